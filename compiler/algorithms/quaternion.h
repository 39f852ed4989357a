// Quaternions as rotations of space.
#pragma once
#include "compiler/frontend/mat.h"

namespace firn {

/// v.x i + v.y j + v.z k + w, of tensors that broadcast. A quaternion of length 1 is a rotation:
/// `p * q` first rotates by q, then by p.
struct Quaternion {
    vec3 v;
    Tensor w;
};
/// Hamilton's product.
///
/// Example: after `Quaternion about_z = axis_angle(vec3(0, 0, 1), 1.5707963f), about_x =
/// axis_angle(vec3(1, 0, 0), 1.5707963f);` `rotate(about_z * about_x, vec3(0, 1, 0))` is
/// `{0, 0, 1}`.
Quaternion operator*(const Quaternion& a, const Quaternion& b);
/// The rotation by `angle`, in radians, about an axis of any length but 0; anticlockwise where the
/// axis points at the viewer.
///
/// Example: after `Quaternion q = axis_angle(vec3(0, 0, 5), 1.5707963f);` `q.v` is
/// `{0, 0, 0.70711}` and `q.w` is `0.70711`.
Quaternion axis_angle(const vec3& axis, const Arg& angle, SourceLine line = here());
/// The rotation back, for length 1.
///
/// Example: `conj(axis_angle(vec3(0, 0, 1), 1.5707963f)).v` is `{0, 0, -0.70711}`.
Quaternion conj(const Quaternion& q, SourceLine line = here());
/// The sum of the products of components; for length 1 the cosine of half the angle from one to
/// the other.
///
/// Example: `dot(axis_angle(vec3(0, 0, 1), 0.0f), axis_angle(vec3(0, 0, 1), 1.5707963f))` is
/// `0.70711`.
Tensor dot(const Quaternion& a, const Quaternion& b, SourceLine line = here());
/// q scaled to length 1; nan for 0.
///
/// Example: `normalize(Quaternion{vec3(0, 0, 3), 4.0f}).w` is `0.8`.
Quaternion normalize(const Quaternion& q, SourceLine line = here());
/// p turned by q, of length 1.
///
/// Example: `rotate(axis_angle(vec3(0, 0, 1), 1.5707963f), vec3(1, 0, 0))` is `{0, 1, 0}`.
vec3 rotate(const Quaternion& q, const vec3& p, SourceLine line = here());
/// The matrix m of the rotation: m * p is rotate(q, p).
///
/// Example: `rotation_matrix(axis_angle(vec3(0, 0, 1), 1.5707963f)) * vec3(1, 2, 3)` is
/// `{-2, 1, 3}`.
mat3 rotation_matrix(const Quaternion& q, SourceLine line = here());
/// The rotation from a at t = 0 to b at t = 1 along the shorter arc, at an even pace, both of
/// length 1. K. Shoemake, "Animating Rotation with Quaternion Curves", 1985.
///
/// Example: after `Quaternion a = axis_angle(vec3(0, 0, 1), 0.0f), b = axis_angle(vec3(0, 0, 1),
/// 1.5707963f);` `rotate(slerp(a, b, 0.5f), vec3(1, 0, 0))` is `{0.70711, 0.70711, 0}`.
Quaternion slerp(const Quaternion& a, const Quaternion& b, const Arg& t, SourceLine line = here());

}  // namespace firn
