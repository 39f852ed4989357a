// The pressure solve: multigrid cycles over the open sides of cells.
#pragma once
#include <firn/firn.h>

#include <vector>

namespace firn::fluid {

/// How open the left and the upper side of every cell are, from 0 to 1. On coarser levels cells
/// hold four of the level before; what lies beyond an odd edge counts as an obstacle.
struct Level {
    Tensor left, upper;
};

/// `finest` and what is coarser, `count` levels in all.
std::vector<Level> pyramid(const Level& finest, int count);

/// One cycle: brings the pressure nearer to that whose flow out of every cell is `source`, with
/// `sweeps` Jacobi sweeps of the finest level and one more of each coarser one. All f32[n, m] of
/// the finest level; `sweeps` is an i32.
Tensor multigrid_cycle(const std::vector<Level>& levels, const Tensor& pressure,
                       const Tensor& source, const Tensor& sweeps);

}  // namespace firn::fluid
