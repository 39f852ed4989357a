// Shows a flow that is controlled, and makes the dye with which it begins by default.
#pragma once
#include "apps/common/canvas.h"
#include "apps/fluid_control/control.h"

namespace firn::fluid_control {

constexpr int kHeight = 500, kWidth = 1200;

/// The dye as it arrives, the target, the first velocity, and below stills of the way. On
/// [kHeight, kWidth]; directions of the velocity are colours.
Drawing picture(const Control& control, const std::vector<Tensor>& stills);

/// A disc of dye, and a heart of about the same area: f32 [n, n, 3].
Tensor disc_of_dye(int n);
Tensor heart_of_dye(int n);

}  // namespace firn::fluid_control
