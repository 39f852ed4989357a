// Computes a step of incompressible flow on tensors; needs no window.
#pragma once
#include <firn/firn.h>

#include <array>
#include <vector>

#include "apps/fluid/multigrid.h"

namespace firn::fluid {

/// The dye and the motion of the fluid, on a staggered (MAC) grid of n x m square cells of side 1.
/// Cell (i, j) covers i <= y < i + 1 and j <= x < j + 1, with y down the picture. All tensors are
/// f32[n, m].
struct Flow {
    Tensor u;         // cells per second along x, in the middle of the left side of each cell
    Tensor v;         // cells per second along y, in the middle of the upper side
    Tensor pressure;  // in the middle of each cell; times dt, so that u -= its difference
    std::array<Tensor, 3> dye;  // red, green and blue, in the middle
};

/// A push on the fluid for one step: velocity and dye along the line from one point to another,
/// within a radius in cells. All are rank-0 f32.
struct Brush {
    Tensor from_y, from_x, to_y, to_x, radius;
    Tensor u, v;      // velocity under the middle of the brush, cells per second
    Tensor strength;  // 1: the fluid takes the brush's velocity whole, 0: not at all
    Tensor ink;       // the same for its colour
    std::array<Tensor, 3> colour;
};

/// Constants of one step, rank 0: f32 unless it says otherwise.
struct Constants {
    Tensor dt;             // seconds
    Tensor confinement;    // vorticity confinement, 0: none
    Tensor velocity_kept;  // share of the velocity that is left after the step
    Tensor dye_kept;       // share of the dye
    Tensor cycles;         // i32: multigrid cycles of the pressure solve
    Tensor sweeps;         // i32: smoothing sweeps of the finest level in each cycle
};

struct FlowStep {
    Flow flow;
    Tensor u_before, v_before;  // the velocity before the projection, with divergence
};

/// Advects velocity and dye, adds the brush and vorticity confinement, and makes the velocity free
/// of divergence. `open` is 1 in fluid cells and 0 in obstacles, and `levels` is its pyramid().
FlowStep step(const Flow& flow, const Tensor& open, const std::vector<Level>& levels,
              const Brush& brush, const Constants& constants);

/// Outflow of every cell: 0 where the flow is incompressible.
Tensor divergence(const Tensor& u, const Tensor& v);
/// The curl at the upper left corner of every cell; 0 where an obstacle or the border touches the
/// corner.
Tensor vorticity(const Tensor& u, const Tensor& v, const Tensor& open);
/// The magnitude of the velocity in the middle of every cell.
Tensor speed(const Tensor& u, const Tensor& v);
/// Root of the mean of the squares.
Tensor rms(const Tensor& x);

}  // namespace firn::fluid
