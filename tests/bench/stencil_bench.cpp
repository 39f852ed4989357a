// Stencils at 1024 x 1024: a step of the wave equation, and a hundred sweeps of Jacobi's method.
#include <firn/firn.h>

#include <cmath>

#include "tests/bench/bench.h"

namespace firn::bench {
namespace {

constexpr int kStencilSide = 1024;
constexpr int64_t kStencilElements = int64_t(kStencilSide) * kStencilSide;
constexpr int kSweeps = 100;

// Four columns and four rows per invocation: whole rows as vec4, the columns beside them as floats;
// edges clamp. `cell(at, around, centre)` does one vec4.
constexpr const char* kTile = R"(
const int n = 1024, columns = 256;
void cell(int at, vec4 around, vec4 centre);
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y) * 4;
    vec4 rows[6];
    [[unroll]] for (int k = 0; k < 6; ++k) rows[k] = u4_at(clamp(y + k - 1, 0, n - 1) * columns + x);
    int before = max(4 * x - 1, 0), after = min(4 * x + 4, n - 1);
    [[unroll]] for (int k = 0; k < 4; ++k) {
        vec4 centre = rows[k + 1];
        float left = u1_at((y + k) * n + before), right = u1_at((y + k) * n + after);
        cell((y + k) * columns + x,
             rows[k] + rows[k + 2] + vec4(left, centre.xyz) + vec4(centre.yzw, right), centre);
    }
}
)";
constexpr const char* kPlainCell = R"(
const int n = 1024;
float read(int y, int x) { return u[clamp(y, 0, n - 1) * n + clamp(x, 0, n - 1)]; }
void cell(int at, float around, float centre);
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    cell(y * n + x, read(y - 1, x) + read(y + 1, x) + read(y, x - 1) + read(y, x + 1), read(y, x));
}
)";

HandKernel stencil(const std::string& name, const std::string& cell,
                   const std::vector<HandBinding>& others) {
    std::vector<HandBinding> bindings{{"u4", As::Texels4, 0}, {"u1", As::Texels, 0}};
    bindings.insert(bindings.end(), others.begin(), others.end());
    return {name,       kTile + cell,
            {64, 4, 1}, {kStencilSide / 4 / 64, kStencilSide / 4 / 4, 1},
            bindings,   {}};
}
HandKernel plain_stencil(const std::string& name, const std::string& cell,
                         const std::vector<HandBinding>& others) {
    std::vector<HandBinding> bindings{{"u", As::Floats, 0}};
    bindings.insert(bindings.end(), others.begin(), others.end());
    return {name,        kPlainCell + cell,
            {16, 16, 1}, {kStencilSide / 16, kStencilSide / 16, 1},
            bindings,    {}};
}

std::vector<float> drop() {
    std::vector<float> values(static_cast<size_t>(kStencilElements));
    for (int y = 0; y < kStencilSide; ++y)
        for (int x = 0; x < kStencilSide; ++x) {
            float dx = float(x - 400) / 60.0f, dy = float(y - 500) / 60.0f;
            values[size_t(y) * kStencilSide + size_t(x)] = std::exp(-dx * dx - dy * dy);
        }
    return values;
}

Contest wave() {
    auto step = compile(
        [](Tensor u, Tensor v, Tensor dt) {
            auto [i, j] = indices<2>(u.shape());
            Tensor laplacian = u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4.0f * u;
            Tensor v_next = v + dt * laplacian;
            return std::tuple{u + dt * v_next, v_next};
        },
        {f32("n", "m"), f32("n", "m"), f32()});
    auto cell = [](const std::string& type) {
        return "void cell(int at, " + type + " around, " + type + " centre) {\n    " + type +
               " next = v_at(at) + 0.1 * (around - 4.0 * centre);\n"
               "    speed[at] = next;\n    height[at] = centre + 0.1 * next;\n}\n";
    };
    std::vector<float> u = drop(), v = numbers(kStencilElements, -0.1f, 0.1f);
    Tensor u0 = tensor(u, {kStencilSide, kStencilSide}),
           v0 = tensor(v, {kStencilSide, kStencilSide});
    auto others = [](As read, As write) {
        return std::vector<HandBinding>{
            {"v", read, 1}, {"height", write, 2, true}, {"speed", write, 3, true}};
    };
    return {.least = {8.0 * kStencilElements, 8.0 * kStencilElements, 9.0 * kStencilElements},
            .arguments = {u, v},
            .results = {kStencilElements, kStencilElements},
            .firn =
                [=] {
                    auto [height, speed] = step(u0, v0, 0.1f);
                    return std::vector<Tensor>{height, speed};
                },
            .best = {{stencil("wave", cell("vec4"), others(As::Texels4, As::Vec4s))}, {}, {}},
            .plain = {{plain_stencil("plain_wave", cell("float"), others(As::Floats, As::Floats))},
                      {},
                      {}},
            .processor = wave_by_hand(kStencilSide)};
}

/// Sweeps alternate between two temporaries, from the argument to the result.
HandProgram sweeps(const HandKernel& kernel, size_t reads) {
    HandProgram program{{kernel}, {kStencilElements, kStencilElements}, {}};
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        const int from = sweep == 0 ? 0 : 2 + sweep % 2, to = 2 + (sweep + 1) % 2;
        std::vector<int> buffers(reads, from);
        buffers.push_back(sweep == kSweeps - 1 ? 1 : to);
        program.steps.push_back({0, buffers});
    }
    return program;
}

Contest jacobi() {
    auto solve = compile(
        [](Tensor u) {
            auto [i, j] = indices<2>(u.shape());
            for (Tensor sweep : loop(kSweeps))
                u = 0.25f * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1));
            return u;
        },
        {f32("n", "m")});
    const std::vector<float> u = drop();
    auto cell = [](const std::string& type) {
        return "void cell(int at, " + type + " around, " + type +
               " centre) { y[at] = 0.25 * around; }\n";
    };
    // The data between sweeps stays in caches: counts only the first read and the last write.
    return {
        .least = {4.0 * kStencilElements, 4.0 * kStencilElements, 4.0 * kSweeps * kStencilElements},
        .arguments = {u},
        .results = {kStencilElements},
        .firn = [solve, u0 = tensor(u, {kStencilSide,
                                        kStencilSide})] { return std::vector<Tensor>{solve(u0)}; },
        .best = sweeps(stencil("jacobi", cell("vec4"), {{"y", As::Vec4s, 1, true}}), 2),
        .plain =
            sweeps(plain_stencil("plain_jacobi", cell("float"), {{"y", As::Floats, 1, true}}), 1),
        .processor = jacobi_by_hand(kStencilSide, kSweeps)};
}

}  // namespace

void add_stencils(std::vector<Case>& cases) {
    cases.push_back({"wave", wave});
    cases.push_back({"jacobi", jacobi, Section::Own,
                     "its sweeps wait for one another, and the field is in no cache"});
}

}  // namespace firn::bench
