// The pressure solve: multigrid cycles over the open sides of cells.
#pragma once
#include <firn/firn.h>

#include <vector>

namespace firn::fluid {

/// The openness of the left and the upper side of every cell, from 0 to 1. On coarser levels cells
/// hold four of the level before; what lies beyond an odd edge counts as an obstacle.
struct Level {
    Tensor left, upper;
};

/// Levels for n x m cells: the coarsest has 4 or fewer cells on its shorter side.
int multigrid_levels(int64_t n, int64_t m);

/// The finest level, where `open` is 1 in fluid cells and 0 in obstacles, f32[n, m] of known size,
/// and all that are coarser, computed. The border of the grid is a wall.
std::vector<Level> pyramid(const Tensor& open);

/// Brings the pressure nearer, by one cycle, to that whose flow out of every cell is `source`, with
/// `sweeps` Jacobi sweeps of the two finest levels and one less, but one at least, below. All
/// f32[n, m] of the finest level; `sweeps` is an i32.
Tensor multigrid_cycle(const std::vector<Level>& levels, const Tensor& pressure,
                       const Tensor& source, const Tensor& sweeps);

}  // namespace firn::fluid
