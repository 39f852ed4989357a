// Matrices of cameras.
#pragma once
#include "compiler/frontend/mat.h"

namespace firn {

// Right-handed: the camera looks along -z, x goes right and y up. What is seen has x and y in -1 ..
// 1 and z in 0 (near) .. 1 (far) after division by w, as Vulkan has it, but for y, which points
// down there. Columns as in GLSL: `projection * view * vec4(p, 1.0f)`.

/// From the world to a camera at `eye` that looks at `target`; `up` is not along that direction.
mat4 look_at(const vec3& eye, const vec3& target, const vec3& up, SourceLine line = here());
/// The projection with the angle `fov_y` from bottom to top, in radians; `aspect` is width over
/// height, near and far are distances above 0.
mat4 perspective(const Arg& fov_y, const Arg& aspect, const Arg& near, const Arg& far,
                 SourceLine line = here());
/// The parallel projection of a box; near and far are distances in front of the camera.
mat4 orthographic(const Arg& left, const Arg& right, const Arg& bottom, const Arg& top,
                  const Arg& near, const Arg& far, SourceLine line = here());

}  // namespace firn
