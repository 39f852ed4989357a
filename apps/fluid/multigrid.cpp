// The pressure solve: multigrid V-cycles over the open sides of cells.
#include "apps/fluid/multigrid.h"

#include <algorithm>

#include "apps/fluid/step.h"

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

/// The weights of the Jacobi sweeps alternate so that two are the Chebyshev polynomial for the
/// upper three quarters of the spectrum: rough errors shrink to 0.22, as by red-black Gauss-Seidel.
/// A last sweep without its second half is damped, or it would feed the roughest errors.
constexpr int kCoarsestSweeps = 4;
constexpr float kEvenWeight = 1.389f, kOddWeight = 0.5616f, kLoneWeight = 0.8f;

/// Sweeps `first` to `end` - 1 over the whole level.
Tensor smooth(const Level& level, Tensor pressure, const Tensor& source, int first,
              const Tensor& end) {
    for (Tensor sweep : loop(first, end)) {
        Surroundings around = surroundings(level, pressure);
        Tensor change = around.sum - source - around.openness * pressure;
        Tensor weight =
            select(sweep % 2 == 1, kOddWeight, select(sweep + 1 == end, kLoneWeight, kEvenWeight));
        pressure += weight * change / max(around.openness, 0.25f);
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
/// open.
Tensor prolonged(const Tensor& error, const Level& coarse, const Level& fine) {
    auto [i, j] = indices<2>(fine.left.shape());
    Tensor row = i / 2, column = j / 2, below = i % 2, after = j % 2;
    Tensor own = error(row, column);
    Tensor open_y = zero(coarse.upper)(row + below, column),
           open_x = zero(coarse.left)(row, column + after);
    return own + 0.25f * (open_y * (error(row + 2 * below - 1, column) - own) +
                          open_x * (error(row, column + 2 * after - 1) - own));
}

/// What corrects a pressure whose residual is `source`, by one V-cycle from `depth` down.
Tensor correction(const std::vector<Level>& levels, size_t depth, const Tensor& source,
                  const Tensor& sweeps);

/// The same from the pressure as it is. The sweeps before `first` are done already.
Tensor cycle(const std::vector<Level>& levels, size_t depth, Tensor pressure, const Tensor& source,
             int first, const Tensor& sweeps) {
    const Level& level = levels[depth];
    if (depth + 1 == levels.size())
        return smooth(level, pressure, source, first, kCoarsestSweeps * sweeps);
    pressure = smooth(level, pressure, source, first, sweeps);
    Surroundings around = surroundings(level, pressure);
    Tensor residual = source - around.sum + around.openness * pressure;
    const Level& coarse = levels[depth + 1];
    Tensor error = correction(levels, depth + 1, restricted(residual, coarse), sweeps);
    return smooth(level, pressure + prolonged(error, coarse, level), source, 0, sweeps);
}

Tensor correction(const std::vector<Level>& levels, size_t depth, const Tensor& source,
                  const Tensor& sweeps) {
    auto [i, j] = indices<2>(source.shape());
    const Level& level = levels[depth];
    // From nothing, the first sweep needs no neighbours.
    Tensor openness =
        level.left + zero(level.left)(i, j + 1) + level.upper + zero(level.upper)(i + 1, j);
    Tensor weight = select(sweeps == 1, kLoneWeight, kEvenWeight);
    return cycle(levels, depth, -weight * source / max(openness, 0.25f), source, 1, sweeps);
}

}  // namespace

int multigrid_levels(int64_t n, int64_t m) {
    int levels = 1;
    for (int64_t side = std::min(n, m); side > 3; side = (side + 1) / 2) ++levels;
    return levels;
}

std::vector<Level> pyramid(const Level& finest, int count) {
    std::vector<Level> levels{finest};
    while (int(levels.size()) < count) levels.push_back(coarser(levels.back()));
    return levels;
}

Tensor v_cycle(const std::vector<Level>& levels, const Tensor& pressure, const Tensor& source,
               const Tensor& sweeps) {
    return cycle(levels, 0, pressure, source, 0, sweeps);
}

}  // namespace firn::fluid
