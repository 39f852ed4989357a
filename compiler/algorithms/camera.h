// Matrices of cameras.
#pragma once
#include "compiler/frontend/mat.h"

namespace firn {

/// The matrix from the world to a camera at `eye` that looks at `target`; `up` is not along that
/// direction.
///
/// Right-handed: the camera looks along -z, x goes right and y up. Visible points have x and y in
/// -1 .. 1 and z in 0 (near) .. 1 (far) after division by w, as in Vulkan except for y, which
/// points down there. Columns as in GLSL: `projection * view * vec4(p, 1.0f)`.
///
/// Example: after `mat4 view = look_at(vec3(0, 0, 5), vec3(0, 0, 0), vec3(0, 1, 0));`
/// `view * vec4(1, 2, 0, 1)` is `{1, 2, -5, 1}`.
mat4 look_at(const vec3& eye, const vec3& target, const vec3& up, SourceLine line = here());
/// The projection with the angle `fov_y` from bottom to top, in radians; `aspect` is width over
/// height, near and far are distances above 0. Axes as for look_at.
///
/// Example: after `vec4 p = perspective(1.5707963f, 2.0f, 1.0f, 10.0f) * vec4(4, 2, -10, 1);`
/// `p / p.w` is `{0.2, 0.2, 1, 1}`.
mat4 perspective(const Arg& fov_y, const Arg& aspect, const Arg& near, const Arg& far,
                 SourceLine line = here());
/// The parallel projection of a box; near and far are distances in front of the camera. Axes as for
/// look_at.
///
/// Example: `orthographic(0, 4, 0, 2, 1, 11) * vec4(4, 1, -6, 1)` is `{1, 0, 0.5, 1}`.
mat4 orthographic(const Arg& left, const Arg& right, const Arg& bottom, const Arg& top,
                  const Arg& near, const Arg& far, SourceLine line = here());

}  // namespace firn
