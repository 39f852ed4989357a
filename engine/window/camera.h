// How a person looks at a drawing in space.
#pragma once
#include <array>

namespace firn {

/// Looks at `target` from `distance` units away; y is up. With yaw and pitch 0 it looks along -z.
struct Camera {
    std::array<float, 3> target{0, 0, 0};
    float distance = 3;
    float yaw = 0.6f, pitch = 0.35f;  // radians: to the right about y, then above the horizon
    float field_of_view = 0.8f;       // radians, over the shorter side of the frame
    /// Turns about itself instead of about its target.
    bool fly = false;
    bool operator==(const Camera&) const = default;
};

/// What the person does to it. Turns in radians; shifts in the frame's heights, at the target's
/// distance; travel in units of that distance.
struct CameraMotion {
    float turn_right = 0, turn_up = 0;
    float shift_right = 0, shift_down = 0;
    float nearer = 0;  // steps of the wheel
    float right = 0, up = 0, forward = 0;
};
void move(Camera& camera, const CameraMotion& motion);

/// What a shader needs of it. Clip space is Vulkan's with the depth reversed and no far plane:
/// z is `near` everywhere, and w the distance along the view.
struct Projection {
    std::array<float, 16> to_clip{};  // by columns
    std::array<float, 2> focal{};     // clip x and y of what is 1 unit off the axis
};
/// `proportion`: the frame's width by its height. Throws UserError for a camera that sees nothing:
/// numbers that are not finite, a distance or field of view that is not positive.
Projection project(const Camera& camera, float proportion);

}  // namespace firn
