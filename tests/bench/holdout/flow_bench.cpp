// Flows on grids: MacCormack's advection and a step of the lattice Boltzmann method.
#include <firn/firn.h>

#include <array>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kFlowSide = 1024;
constexpr int64_t kFlowCells = int64_t(kFlowSide) * kFlowSide;

Tensor bilinear(const Tensor& q, const Tensor& y, const Tensor& x) {
    Tensor i = cast<int>(floor(y)), j = cast<int>(floor(x)), t = y - floor(y), s = x - floor(x);
    return mix(mix(q(i, j), q(i, j + 1), s), mix(q(i + 1, j), q(i + 1, j + 1), s), t);
}

/// A. Selle et al., "An Unconditionally Stable MacCormack Method", 2008.
Tensor maccormack_step(Tensor q, Tensor u, Tensor v, Tensor dt) {
    auto [i, j] = indices<2>(q.shape());
    Tensor from_y = i - dt * v, from_x = j - dt * u;
    Tensor forward = bilinear(q, from_y, from_x);
    Tensor back = bilinear(forward, i + dt * v, j + dt * u);
    Tensor corrected = forward + 0.5f * (q - back);
    Tensor y = cast<int>(floor(from_y)), x = cast<int>(floor(from_x));
    Tensor a = q(y, x), b = q(y, x + 1), c = q(y + 1, x), d = q(y + 1, x + 1);
    return clamp(corrected, min(min(a, b), min(c, d)), max(max(a, b), max(c, d)));
}

constexpr const char* kBilinear = R"(
float near(int i, int j) { return q_at(clamp(i, 0, 1023) * 1024 + clamp(j, 0, 1023)); }
float bilinear(vec2 at) {
    vec2 low = floor(at), t = at - low;
    int i = int(low.y), j = int(low.x);
    return mix(mix(near(i, j), near(i, j + 1), t.x), mix(near(i + 1, j), near(i + 1, j + 1), t.x), t.y);
}
ivec2 own = ivec2(gl_GlobalInvocationID.xy);
int place = own.y * 1024 + own.x;
vec2 way = 0.8 * vec2(u_at(place), v_at(place));
)";
constexpr const char* kForward = R"(
void main() { forward[place] = bilinear(vec2(own) - way); }
)";
constexpr const char* kCorrected = R"(
void main() {
    vec2 from = floor(vec2(own) - way);
    int i = int(from.y), j = int(from.x);
    float a = before(i, j), b = before(i, j + 1), c = before(i + 1, j), d = before(i + 1, j + 1);
    float corrected = q_at(place) + 0.5 * (old_at(place) - bilinear(vec2(own) + way));
    y[place] = clamp(corrected, min(min(a, b), min(c, d)), max(max(a, b), max(c, d)));
}
)";
constexpr const char* kOld = R"(
float before(int i, int j) { return old_at(clamp(i, 0, 1023) * 1024 + clamp(j, 0, 1023)); }
)";

Contest maccormack() {
    auto step = compile(maccormack_step, {f32("h", "w"), f32("h", "w"), f32("h", "w"), f32()});
    const std::vector<float> q = hills(kFlowSide, kFlowSide, 9).values,
                             u = hills(kFlowSide, kFlowSide, 4).values,
                             v = hills(kFlowSide, kFlowSide, 3).values;
    auto kernel = [](const std::string& name, const std::string& body,
                     const std::vector<HandBinding>& own) {
        HandKernel out{name, body, {64, 4, 1}, {kFlowSide / 64, kFlowSide / 4, 1}, own, {}};
        out.bindings.push_back({"u", As::Floats, 1});
        out.bindings.push_back({"v", As::Floats, 2});
        return out;
    };
    const std::string head = kBilinear;
    HandProgram plain{
        {kernel("maccormack_forward", head + kForward,
                {{"q", As::Floats, 0}, {"forward", As::Floats, 4, true}}),
         kernel("maccormack", head + kOld + kCorrected,
                {{"q", As::Floats, 4}, {"old", As::Floats, 0}, {"y", As::Floats, 3, true}})},
        {kFlowCells},
        {}};
    Tensor q0 = tensor(q, {kFlowSide, kFlowSide}), u0 = tensor(u, {kFlowSide, kFlowSide}),
           v0 = tensor(v, {kFlowSide, kFlowSide});
    // Operations per cell: two places (4 each), two bilinear reads (13 each, of four numbers), the
    // correction 3, the limits 8.
    return {.least = {12.0 * kFlowCells, 4.0 * kFlowCells, 45.0 * kFlowCells, 8.0 * kFlowCells},
            .arguments = {q, u, v},
            .results = {kFlowCells},
            .firn = [=] { return std::vector<Tensor>{step(q0, u0, v0, 0.8f)}; },
            .best = through_texels(plain),
            .plain = plain,
            .tolerance = 1e-3};
}

constexpr int kLattice = 512;
constexpr int64_t kSites = int64_t(kLattice) * kLattice;
constexpr std::array<int, 9> kAcross{0, 1, 0, -1, 0, 1, -1, -1, 1},
    kDown{0, 0, 1, 0, -1, 1, 1, -1, -1};

/// Streams around the edges, then relaxes: Y. Qian et al., "Lattice BGK Models for Navier-Stokes
/// Equation", 1992.
std::vector<Tensor> lattice_cell(const Tensor& f, const Tensor& omega, const Tensor& i,
                                 const Tensor& j) {
    std::vector<Tensor> in, out;
    Tensor density = 0.0f, across = 0.0f, down = 0.0f;
    for (size_t k = 0; k < 9; ++k) {
        in.push_back(wrap(f)(k, i - kDown[k], j - kAcross[k]));
        density += in[k];
        across += float(kAcross[k]) * in[k];
        down += float(kDown[k]) * in[k];
    }
    across /= density;
    down /= density;
    Tensor squared = across * across + down * down;
    for (size_t k = 0; k < 9; ++k) {
        const float weight = k == 0 ? 4.0f / 9 : k < 5 ? 1.0f / 9 : 1.0f / 36;
        Tensor along = float(kAcross[k]) * across + float(kDown[k]) * down;
        Tensor even =
            weight * density * (1.0f + 3.0f * along + 4.5f * along * along - 1.5f * squared);
        out.push_back(in[k] + omega * (even - in[k]));
    }
    return out;
}
Tensor lattice_step(Tensor f, Tensor omega) {
    auto [i, j] = indices<2>({f.size(1), f.size(2)});
    return stack(lattice_cell(f, omega, i, j));
}
Tensor lattice_kernel(Tensor f, Tensor omega) {
    Tensor next = zeros(f.shape());
    kernel({f.size(1), f.size(2)}, [&](Tensor i, Tensor j) {
        const std::vector<Tensor> out = lattice_cell(f, omega, i, j);
        for (size_t k = 0; k < 9; ++k) next(k, i, j) = out[k];
    });
    return next;
}

constexpr const char* kLatticeStep = R"(
const int across[9] = int[](0, 1, 0, -1, 0, 1, -1, -1, 1), down[9] = int[](0, 0, 1, 0, -1, 1, 1, -1, -1);
void main() {
    int x = int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    float part[9], density = 0.0;
    vec2 speed = vec2(0);
    [[unroll]] for (int k = 0; k < 9; ++k) {
        part[k] = f_at((k * 512 + ((y - down[k]) & 511)) * 512 + ((x - across[k]) & 511));
        density += part[k];
        speed += part[k] * vec2(across[k], down[k]);
    }
    speed /= density;
    float rest = 1.0 - 1.5 * dot(speed, speed);
    [[unroll]] for (int k = 0; k < 9; ++k) {
        float weight = k == 0 ? 4.0 / 9.0 : k < 5 ? 1.0 / 9.0 : 1.0 / 36.0;
        float along = dot(speed, vec2(across[k], down[k]));
        next[(k * 512 + y) * 512 + x] =
            part[k] + 1.2 * (weight * density * (rest + along * (3.0 + 4.5 * along)) - part[k]);
    }
}
)";

// Four sites of a row in an invocation, so that they are stored together.
constexpr const char* kBestLatticeStep = R"(
const int across[9] = int[](0, 1, 0, -1, 0, 1, -1, -1, 1), down[9] = int[](0, 0, 1, 0, -1, 1, 1, -1, -1);
void main() {
    int x = 4 * int(gl_GlobalInvocationID.x), y = int(gl_GlobalInvocationID.y);
    vec4 part[9], density = vec4(0), speed_x = vec4(0), speed_y = vec4(0);
    [[unroll]] for (int k = 0; k < 9; ++k) {
        int row = (k * 512 + ((y - down[k]) & 511)) * 512, column = x - across[k];
        part[k] = vec4(f_at(row + (column & 511)), f_at(row + ((column + 1) & 511)),
                       f_at(row + ((column + 2) & 511)), f_at(row + ((column + 3) & 511)));
        density += part[k];
        speed_x += part[k] * float(across[k]);
        speed_y += part[k] * float(down[k]);
    }
    vec4 scale = 1.0 / density;
    speed_x *= scale, speed_y *= scale;
    vec4 rest = 1.0 - 1.5 * (speed_x * speed_x + speed_y * speed_y);
    [[unroll]] for (int k = 0; k < 9; ++k) {
        vec4 weight = density * (k == 0 ? 4.0 / 9.0 : k < 5 ? 1.0 / 9.0 : 1.0 / 36.0);
        vec4 along = speed_x * float(across[k]) + speed_y * float(down[k]);
        next[((k * 512 + y) * 512 + x) / 4] =
            part[k] + 1.2 * (weight * (rest + along * (3.0 + 4.5 * along)) - part[k]);
    }
}
)";

Contest lattice_boltzmann(Tensor (*program)(Tensor, Tensor)) {
    auto step = compile(program, {f32(9, "h", "w"), f32()});
    const std::vector<float> f = numbers(9 * kSites, 0.08f, 0.14f);
    HandProgram plain{{{"lattice_boltzmann",
                        kLatticeStep,
                        {64, 4, 1},
                        {kLattice / 64, kLattice / 4, 1},
                        {{"f", As::Floats, 0}, {"next", As::Floats, 1, true}},
                        {}}},
                      {},
                      {}};
    HandProgram best = through_texels(plain);
    best.kernels[0].body = kBestLatticeStep;
    best.kernels[0].groups = {kLattice / 256, kLattice / 4, 1};
    best.kernels[0].bindings[1].as = As::Vec4s;
    // Operations per site: moments 21, the speed squared 4, shared factors 4, and 5, 8 or 9 by
    // direction.
    return {.least = {36.0 * kSites, 36.0 * kSites, 102.0 * kSites},
            .arguments = {f},
            .results = {9 * kSites},
            .firn =
                [step, f0 = tensor(f, {9, kLattice, kLattice})] {
                    return std::vector<Tensor>{step(f0, 1.2f)};
                },
            .best = best,
            .plain = plain};
}

}  // namespace

void add_flows(std::vector<Case>& cases) {
    cases.push_back({"maccormack", maccormack, Section::Training,
                     "beside what is read there are places to compute, and limits to keep"});
    cases.push_back(
        {"lattice_boltzmann", [] { return lattice_boltzmann(lattice_step); }, Section::Training});
    cases.push_back({"lattice_boltzmann_kernel", [] { return lattice_boltzmann(lattice_kernel); },
                     Section::Training});
}

}  // namespace firn::bench
