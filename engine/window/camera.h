// Cameras: how a person moves them, and the projection that shaders use.
#pragma once
#include <array>

#include "engine/window/scene.h"

namespace firn {

/// A motion of the camera by the person. Turns are in radians, shifts in heights of the frame at
/// the target's distance, and travel in units of that distance.
struct CameraMotion {
    float turn_right = 0, turn_up = 0;
    float shift_right = 0, shift_down = 0;
    float nearer = 0;  // steps of the wheel
    float right = 0, up = 0, forward = 0;
};
void move_camera(DrawCamera& camera, const CameraMotion& motion);

/// The projection that a shader uses. Clip space is Vulkan's with the depth reversed and no far
/// plane: z is `near` everywhere, and w the distance along the view.
struct CameraProjection {
    std::array<float, 16> to_clip{};  // by columns
    std::array<float, 2> focal{};     // clip x and y of a point 1 unit off the axis
};
/// Returns the projection of a camera. `proportion`: the frame's width divided by its height.
/// Throws UserError for a camera that sees nothing: numbers that are not finite, a distance or
/// field of view that is not positive.
CameraProjection projection_of(const DrawCamera& camera, float proportion);

}  // namespace firn
