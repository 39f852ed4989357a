// Cameras: what a person does to them, and what shaders need of them.
#pragma once
#include <array>

#include "engine/window/scene.h"

namespace firn {

/// What the person does to it. Turns in radians; shifts in the frame's heights, at the target's
/// distance; travel in units of that distance.
struct CameraMotion {
    float turn_right = 0, turn_up = 0;
    float shift_right = 0, shift_down = 0;
    float nearer = 0;  // steps of the wheel
    float right = 0, up = 0, forward = 0;
};
void move_camera(DrawCamera& camera, const CameraMotion& motion);

/// What a shader needs of it. Clip space is Vulkan's with the depth reversed and no far plane:
/// z is `near` everywhere, and w the distance along the view.
struct CameraProjection {
    std::array<float, 16> to_clip{};  // by columns
    std::array<float, 2> focal{};     // clip x and y of what is 1 unit off the axis
};
/// `proportion`: the frame's width by its height. Throws UserError for a camera that sees nothing:
/// numbers that are not finite, a distance or field of view that is not positive.
CameraProjection projection_of(const DrawCamera& camera, float proportion);

}  // namespace firn
