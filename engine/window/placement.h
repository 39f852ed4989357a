// Which scenes can be drawn, and where they are in a frame.
#pragma once
#include "engine/window/scene.h"

namespace firn {

/// Elements of a layer: segments of a path.
int64_t shapes_of(const DrawLayer& layer);
/// Throws UserError where it cannot be drawn: types, ranks and shapes that do not fit.
void check_drawable(const DrawLayer& layer);
/// Throws UserError for limits without an extent, or that are not finite.
void check_limits(const DrawLimits& limits);

/// The part of a frame that is drawn to, and the coordinates of its sides: columns and rows of a
/// picture, units of a flat drawing, and pixels of the frame for a drawing in space.
struct DrawPlacement {
    Rectangle area;
    float left = 0, right = 1, top = 0, bottom = 1;
};
DrawPlacement placement_of(const DrawScene& scene, const Rectangle& frame);
/// Where the picture lies in it, which a drawing in space covers beyond.
Rectangle picture_area(const DrawScene& scene, const Rectangle& frame);

}  // namespace firn
