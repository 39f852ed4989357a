// The pressure solve: multigrid cycles over the open sides of cells. They smooth on the way up
// alone (sawtooth: Wesseling, An Introduction to Multigrid Methods, 1992): smoothing last leaves
// the least divergence for the same number of sweeps.
#include "apps/fluid/multigrid.h"

#include <algorithm>

namespace firn::fluid {
namespace {

Level coarser(const Level& fine) {
    Size n = fine.left.size(0), m = fine.left.size(1);
    auto [i, j] = indices<2>({ceil_div(n, 2), ceil_div(m, 2)});
    Reader left = zero(fine.left), upper = zero(fine.upper);
    return {0.5f * (left(2 * i, 2 * j) + left(2 * i + 1, 2 * j)),
            0.5f * (upper(2 * i, 2 * j) + upper(2 * i, 2 * j + 1))};
}

/// The pressure of a cell's neighbours summed through its open sides, and how much of these are
/// open.
struct Surroundings {
    Tensor sum, openness;
};

Surroundings surroundings(const Level& level, const Tensor& pressure) {
    auto [i, j] = indices<2>(level.left.shape());
    Tensor left = level.left, upper = level.upper;
    Tensor right = zero(left)(i, j + 1), lower = zero(upper)(i + 1, j);
    return {left * pressure(i, j - 1) + right * pressure(i, j + 1) + upper * pressure(i - 1, j) +
                lower * pressure(i + 1, j),
            left + right + upper + lower};
}

constexpr int kCoarsestSweeps = 2;  // times those of other levels
/// At this level and below every cycle is run twice, with a sweep less: the level holds a sixteenth
/// of the cells, and the cycle converges twice as fast.
constexpr size_t kTwice = 2;
/// Corrections are larger than what the level below found, because its steps hold back what is
/// smooth (Braess, Towards Algebraic Multigrid for Elliptic Problems of Second Order, 1995).
constexpr float kOverCorrection = 1.04f;

/// The weight of a Jacobi sweep, one of `sweeps`: together they are the Chebyshev polynomial for
/// most of the spectrum, [0.46, 2]. Rough errors shrink to 0.63, 0.24, 0.09 by one, two, three.
Tensor weight_of(const Tensor& sweep, const Tensor& sweeps) {
    constexpr float kPi = 3.14159265f;
    return 1.0f / (1.23f + 0.77f * cos(kPi * (cast<float>(sweep) + 0.5f) / cast<float>(sweeps)));
}

Tensor smooth(const Level& level, Tensor pressure, const Tensor& source, const Tensor& sweeps) {
    for (Tensor sweep : loop(sweeps)) {
        Surroundings around = surroundings(level, pressure);
        Tensor change = around.sum - source - around.openness * pressure;
        pressure += weight_of(sweep, sweeps) * change / max(around.openness, 0.25f);
    }
    return pressure;
}

/// Every cell's share of the level below: the sum of its four cells.
Tensor restricted(const Tensor& fine, const Level& coarse) {
    auto [i, j] = indices<2>(coarse.left.shape());
    Reader read = zero(fine);
    return read(2 * i, 2 * j) + read(2 * i, 2 * j + 1) + read(2 * i + 1, 2 * j) +
           read(2 * i + 1, 2 * j + 1);
}

/// Linear from the coarse cell that holds each cell towards the nearest two, as far as the way is
/// open. Made of what each coarse cell gives its four, so that gradients gather these.
Tensor prolonged(const Tensor& error, const Level& coarse, const Level& fine) {
    auto [i, j] = indices<2>(error.shape());
    Reader read = zero(error), upper = zero(coarse.upper), left = zero(coarse.left);
    const auto given = [&](int below, int after) {
        return error + 0.25f * (upper(i + below, j) * (read(i + 2 * below - 1, j) - error) +
                                left(i, j + after) * (read(i, j + 2 * after - 1) - error));
    };
    const auto row = [&](int below) {
        return stack({given(below, 0), given(below, 1)}, {.axis = 2});
    };
    const Tensor four = stack({row(0), row(1)}, {.axis = 1});  // [n, 2, m, 2]
    const auto [y, x] = indices<2>(fine.left.shape());
    return reshape(four, {2 * error.size(0), 2 * error.size(1)})(y, x);
}

Tensor cycle(const std::vector<Level>& levels, size_t depth, const Tensor& pressure,
             const Tensor& source, const Tensor& sweeps);

/// `pressure`, which leaves `residual` of `source`, corrected by the levels below and smoothed.
Tensor corrected(const std::vector<Level>& levels, size_t depth, const Tensor& pressure,
                 const Tensor& residual, const Tensor& source, const Tensor& sweeps) {
    const Level &level = levels[depth], &coarse = levels[depth + 1];
    Tensor below = restricted(residual, coarse), error = zeros(below.shape());
    if (depth + 2 == levels.size())
        error = smooth(coarse, error, below, kCoarsestSweeps * sweeps);
    else  // from nothing, all of what comes from above is left
        error = corrected(levels, depth + 1, error, below, below, sweeps);
    if (depth + 1 == kTwice) error = cycle(levels, depth + 1, error, below, sweeps);
    return smooth(level, pressure + kOverCorrection * prolonged(error, coarse, level), source,
                  depth < kTwice ? sweeps : max(sweeps - 1, 1));
}

/// Runs a cycle from `depth` down.
Tensor cycle(const std::vector<Level>& levels, size_t depth, const Tensor& pressure,
             const Tensor& source, const Tensor& sweeps) {
    if (depth + 1 == levels.size())
        return smooth(levels[depth], pressure, source, kCoarsestSweeps * sweeps);
    Surroundings around = surroundings(levels[depth], pressure);
    return corrected(levels, depth, pressure, source - around.sum + around.openness * pressure,
                     source, sweeps);
}

}  // namespace

int multigrid_levels(int64_t n, int64_t m) {
    int levels = 1;
    for (int64_t side = std::min(n, m); side > 3; side = (side + 1) / 2) ++levels;
    return levels;
}

std::vector<Level> pyramid(const Tensor& open) {
    auto [i, j] = indices<2>(open.shape());
    std::vector<Level> levels{{open * zero(open)(i, j - 1), open * zero(open)(i - 1, j)}};
    const int count = multigrid_levels(int(open.size(0)), int(open.size(1)));
    while (int(levels.size()) < count) levels.push_back(coarser(levels.back()));
    std::vector<Tensor*> sides;
    for (Level& level : levels) sides.insert(sides.end(), {&level.left, &level.upper});
    realize(sides);
    return levels;
}

Tensor multigrid_cycle(const std::vector<Level>& levels, const Tensor& pressure,
                       const Tensor& source, const Tensor& sweeps) {
    return cycle(levels, 0, pressure, source, sweeps);
}

}  // namespace firn::fluid
