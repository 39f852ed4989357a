// Axes of the camera, and scales of its view.
#include "compiler/algorithms/camera.h"

namespace firn {
namespace {

Tensor real(const Arg& x) { return to_kind(x, VecKind::Float); }

}  // namespace

mat4 look_at(const vec3& eye, const vec3& target, const vec3& up, SourceLine line) {
    LineScope at(line);
    const vec3 back = normalize(eye - target), right = normalize(cross(up, back));
    const vec3 above = cross(back, right);
    return mat4(vec4(right.x, above.x, back.x, 0.0f), vec4(right.y, above.y, back.y, 0.0f),
                vec4(right.z, above.z, back.z, 0.0f),
                vec4(-dot(right, eye), -dot(above, eye), -dot(back, eye), 1.0f));
}

mat4 perspective(const Arg& fov_y, const Arg& aspect, const Arg& near, const Arg& far,
                 SourceLine line) {
    LineScope at(line);
    const Tensor scale = 1.0f / tan(real(fov_y) * 0.5f), n = real(near), f = real(far);
    return mat4(vec4(scale / real(aspect), 0.0f, 0.0f, 0.0f), vec4(0.0f, scale, 0.0f, 0.0f),
                vec4(0.0f, 0.0f, f / (n - f), -1.0f), vec4(0.0f, 0.0f, n * f / (n - f), 0.0f));
}

mat4 orthographic(const Arg& left, const Arg& right, const Arg& bottom, const Arg& top,
                  const Arg& near, const Arg& far, SourceLine line) {
    LineScope at(line);
    const Tensor l = real(left), r = real(right), b = real(bottom), t = real(top), n = real(near),
                 f = real(far);
    return mat4(vec4(2.0f / (r - l), 0.0f, 0.0f, 0.0f), vec4(0.0f, 2.0f / (t - b), 0.0f, 0.0f),
                vec4(0.0f, 0.0f, 1.0f / (n - f), 0.0f),
                vec4((l + r) / (l - r), (b + t) / (b - t), n / (n - f), 1.0f));
}

}  // namespace firn
