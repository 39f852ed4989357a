// Poisson's equation on a square by conjugate gradients.
#include <firn/firn.h>

#include "tests/bench/holdout/holdout.h"

namespace firn::bench {
namespace {

constexpr int kSolverSide = 256, kSolverTurns = 50;
constexpr int64_t kSolverCells = int64_t(kSolverSide) * kSolverSide;

Tensor five_points(const Tensor& x) {
    auto [i, j] = indices<2>(x.shape());
    Reader at = zero(x);
    return 4.0f * x - at(i - 1, j) - at(i + 1, j) - at(i, j - 1) - at(i, j + 1);
}

/// M. Hestenes and E. Stiefel, "Methods of Conjugate Gradients for Solving Linear Systems", 1952.
Tensor solved(Tensor b) {
    Tensor x = zeros(b.shape()), residual = b, direction = b, squared = sum(b * b);
    for (Tensor turn : loop(kSolverTurns)) {
        Tensor image = five_points(direction);
        Tensor length = squared / sum(direction * image);
        x += length * direction;
        residual -= length * image;
        Tensor next = sum(residual * residual);
        direction = residual + next / squared * direction;
        squared = next;
    }
    return x;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double out = 0;
    for (size_t k = 0; k < a.size(); ++k) out += a[k] * b[k];
    return out;
}

std::vector<std::vector<float>> host_solved(const std::vector<float>& b) {
    std::vector<double> x(b.size()), residual(b.begin(), b.end()), direction = residual,
                                                                   image(b.size());
    double squared = dot(residual, residual);
    for (int turn = 0; turn < kSolverTurns; ++turn) {
        for (size_t k = 0; k < b.size(); ++k) {
            const size_t i = k / kSolverSide, j = k % kSolverSide;
            image[k] = 4 * direction[k];
            if (i > 0) image[k] -= direction[k - kSolverSide];
            if (i + 1 < kSolverSide) image[k] -= direction[k + kSolverSide];
            if (j > 0) image[k] -= direction[k - 1];
            if (j + 1 < kSolverSide) image[k] -= direction[k + 1];
        }
        const double length = squared / dot(direction, image);
        for (size_t k = 0; k < b.size(); ++k)
            x[k] += length * direction[k], residual[k] -= length * image[k];
        const double next = dot(residual, residual);
        for (size_t k = 0; k < b.size(); ++k)
            direction[k] = residual[k] + next / squared * direction[k];
        squared = next;
    }
    return {std::vector<float>(x.begin(), x.end())};
}

// The squared residual goes to and fro between two buffers; sums are cleared a kernel ahead.
constexpr const char* kGradientSum = R"(
shared float part[256];
float group_sum(float value) {
    int local = int(gl_LocalInvocationIndex);
    part[local] = value;
    for (int width = 128; width > 0; width /= 2) {
        barrier();
        if (local < width) part[local] += part[local + width];
    }
    return part[0];
}
int own = int(gl_GlobalInvocationID.x);
)";
constexpr const char* kGradientClear =
    "void main() { squared[0] = 0.0; next[0] = 0.0; along[0] = 0.0; }\n";
constexpr const char* kGradientStart = R"(
void main() {
    x[own] = 0.0;
    residual[own] = b[own];
    direction[own] = b[own];
    float all = group_sum(b[own] * b[own]);
    if (gl_LocalInvocationIndex == 0) atomicAdd(squared[0], all);
}
)";
constexpr const char* kGradientImage = R"(
void main() {
    int j = own & 255, i = own >> 8;
    float sum = 4.0 * direction[own];
    if (i > 0) sum -= direction[own - 256];
    if (i < 255) sum -= direction[own + 256];
    if (j > 0) sum -= direction[own - 1];
    if (j < 255) sum -= direction[own + 1];
    image[own] = sum;
    float all = group_sum(direction[own] * sum);
    if (gl_LocalInvocationIndex == 0) atomicAdd(along[0], all);
    if (own == 0) next[0] = 0.0;
}
)";
constexpr const char* kGradientUpdate = R"(
void main() {
    float reach = squared[0] / along[0], rest = residual[own] - reach * image[own];
    x[own] += reach * direction[own];
    residual[own] = rest;
    float all = group_sum(rest * rest);
    if (gl_LocalInvocationIndex == 0) atomicAdd(next[0], all);
}
)";
constexpr const char* kGradientTurn = R"(
void main() {
    direction[own] = residual[own] + next[0] / squared[0] * direction[own];
    if (own == 0) along[0] = 0.0;
}
)";

HandProgram plain_gradients() {
    constexpr int kSquaredOf = 2, kAlongOf = 4;
    const HandBinding x{"x", As::Floats, 1, true}, squared{"squared", As::Floats, kSquaredOf, true},
        next{"next", As::Floats, kSquaredOf + 1, true}, along{"along", As::Floats, kAlongOf, true},
        residual{"residual", As::Floats, 5, true}, direction{"direction", As::Floats, 6, true},
        image{"image", As::Floats, 7, true};
    auto kernel = [](const std::string& name, const std::string& body,
                     const std::vector<HandBinding>& bindings) {
        return HandKernel{
            name, kGradientSum + body, {256, 1, 1}, {int(kSolverCells / 256), 1, 1}, bindings, {}};
    };
    HandProgram program;
    program.temporaries = {1, 1, 1, kSolverCells, kSolverCells, kSolverCells};
    program.kernels = {
        {"gradients_clear", kGradientClear, {1, 1, 1}, {1, 1, 1}, {squared, next, along}, {}},
        kernel("gradients_start", kGradientStart,
               {{"b", As::Floats, 0}, x, residual, direction, squared}),
        kernel("gradients_image", kGradientImage, {next, direction, image, along}),
        kernel("gradients_update", kGradientUpdate,
               {squared, next, along, x, residual, direction, image}),
        kernel("gradients_turn", kGradientTurn, {squared, next, along, residual, direction})};
    program.steps = {{0, {}}, {1, {}}};
    for (int turn = 0; turn < kSolverTurns; ++turn) {
        const int old = kSquaredOf + turn % 2, now = kSquaredOf + 1 - turn % 2;
        program.steps.insert(program.steps.end(), {{2, {now, 6, 7, kAlongOf}},
                                                   {3, {old, now, kAlongOf, 1, 5, 6, 7}},
                                                   {4, {old, now, kAlongOf, 5, 6}}});
    }
    return program;
}

// One group in one dispatch, so that all of it stays in the invocations' own memory. Eight lanes
// above one another have a strip of 8 columns; only the columns at its sides go through a buffer.
// Images are computed twice, which costs less than to keep them.
constexpr const char* kGradientBest = R"(
shared float sums[101];
#define IMAGE(k) (4.0 * direction[k] - (((k < 8 ? above[k & 7] : direction[max(k - 8, 0)]) + \
    (k < 248 ? direction[min(k + 8, 255)] : below[k & 7])) + \
    (((k & 7) > 0 ? direction[max(k - 1, 0)] : before[k / 32][k / 8 & 3]) + \
    ((k & 7) < 7 ? direction[min(k + 1, 255)] : after[k / 32][k / 8 & 3]))))
void add_up(int k, vec4 value) {
    float all = eight_sum((value.x + value.y) + (value.z + value.w));
    if ((gl_LocalInvocationID.x & 7) == 0) atomicAdd(sums[k], all);
    barrier();
}
void main() {
    int local = int(gl_LocalInvocationID.x), lane = local & 7, strip = local >> 3;
    if (local < 101) sums[local] = 0.0;
    barrier();
    float x[256], residual[256], direction[256], squared;
    vec4 total = vec4(0);
    [[unroll]] for (int k = 0; k < 256; k += 4) {
        vec4 some = b_at((lane * 32 + k / 8) * 64 + strip * 2 + (k & 4) / 4);
        [[unroll]] for (int c = 0; c < 4; ++c) {
            x[k + c] = 0.0;
            residual[k + c] = direction[k + c] = some[c];
        }
        total += some * some;
    }
    add_up(0, total);
    squared = sums[0];
    // Of each side of a strip 64 vec4 of four rows.
    int left = max(strip - 1, 0) * 128 + 64 + lane, right = min(strip + 1, 31) * 128 + lane;
    float has_left = strip > 0 ? 1.0 : 0.0, has_right = strip < 31 ? 1.0 : 0.0;
    float has_above = lane > 0 ? 1.0 : 0.0, has_below = lane < 7 ? 1.0 : 0.0;
    for (int turn = 0; turn < 50; ++turn) {
        [[unroll]] for (int q = 0; q < 8; ++q) [[unroll]] for (int side = 0; side < 2; ++side) {
            int k = q * 32 + side * 7;
            edges[strip * 128 + side * 64 + q * 8 + lane] =
                vec4(direction[k], direction[k + 8], direction[k + 16], direction[k + 24]);
        }
        memoryBarrierBuffer();
        barrier();
        float above[8], below[8];
        total = vec4(0);
        [[unroll]] for (int j = 0; j < 8; ++j) {
            above[j] = has_above * eight_shuffle(direction[248 + j], max(lane - 1, 0));
            below[j] = has_below * eight_shuffle(direction[j], min(lane + 1, 7));
        }
        vec4 before[8], after[8];
        [[unroll]] for (int q = 0; q < 8; ++q)
            before[q] = has_left * edge_at(left + q * 8), after[q] = has_right * edge_at(right + q * 8);
        [[unroll]] for (int k = 0; k < 256; ++k) total[k & 3] += direction[k] * IMAGE(k);
        add_up(2 * turn + 1, total);
        total = vec4(0);
        float reach = squared / sums[2 * turn + 1];
        [[unroll]] for (int k = 0; k < 256; ++k) {
            residual[k] -= reach * IMAGE(k);
            total[k & 3] += residual[k] * residual[k];
        }
        add_up(2 * turn + 2, total);
        float next = sums[2 * turn + 2];
        [[unroll]] for (int k = 0; k < 256; ++k) {
            x[k] += reach * direction[k];
            direction[k] = residual[k] + next / squared * direction[k];
        }
        squared = next;
    }
    [[unroll]] for (int k = 0; k < 256; k += 4)
        y[(lane * 32 + k / 8) * 64 + strip * 2 + (k & 4) / 4] = vec4(x[k], x[k + 1], x[k + 2], x[k + 3]);
}
)";

HandProgram best_gradients() {
    return {{{"gradients",
              kGradientBest,
              {256, 1, 1},
              {1, 1, 1},
              {{"b", As::Texels4, 0},
               {"y", As::Vec4s, 1, true},
               {"edge", As::Texels4, 2, false, true},
               {"edges", As::Vec4s, 2, true, true}},
              {}}},
            {32 * 2 * 256},
            {}};
}

Contest conjugate_gradients() {
    auto f = compile(solved, {f32("h", "w")});
    const std::vector<float> b = numbers(kSolverCells, -1, 1);
    // Operations per cell and iteration: the stencil 5, two products summed 4, three updates 6. All
    // of it stays in caches.
    return {.least = {4.0 * kSolverCells, 4.0 * kSolverCells, 15.0 * kSolverTurns * kSolverCells},
            .arguments = {b},
            .results = {kSolverCells},
            .firn = [f, x = tensor(
                            b, {kSolverSide, kSolverSide})] { return std::vector<Tensor>{f(x)}; },
            .best = best_gradients(),
            .plain = plain_gradients(),
            .tolerance = 1e-3,
            .expected = [b] { return host_solved(b); }};
}

}  // namespace

void add_solvers(std::vector<Case>& cases) {
    cases.push_back({"conjugate_gradients", conjugate_gradients, Section::Training,
                     "sums over all cells wait for one another, two in every turn"});
}

}  // namespace firn::bench
