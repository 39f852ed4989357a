// Quaternions as rotations of space.
#pragma once
#include "compiler/frontend/mat.h"

namespace firn {

/// v.x i + v.y j + v.z k + w, of tensors that broadcast. Of length 1 it is a rotation: `p * q`
/// first turns by q, then by p.
struct Quaternion {
    vec3 v;
    Tensor w;
};
/// Hamilton's product.
Quaternion operator*(const Quaternion& a, const Quaternion& b);
/// The rotation by `angle`, in radians, about an axis of any length but 0; anticlockwise where the
/// axis points at the viewer.
Quaternion axis_angle(const vec3& axis, const Arg& angle, SourceLine line = here());
/// The rotation back, for length 1.
Quaternion conj(const Quaternion& q, SourceLine line = here());
Tensor dot(const Quaternion& a, const Quaternion& b, SourceLine line = here());
/// Of length 1; nan for 0.
Quaternion normalize(const Quaternion& q, SourceLine line = here());
/// p turned by q, of length 1.
vec3 rotate(const Quaternion& q, const vec3& p, SourceLine line = here());
/// The matrix m of the rotation: m * p is rotate(q, p).
mat3 rotation_matrix(const Quaternion& q, SourceLine line = here());
/// From a at t = 0 to b at t = 1 along the shorter arc, at an even pace, both of length 1. K.
/// Shoemake, "Animating Rotation with Quaternion Curves", 1985.
Quaternion slerp(const Quaternion& a, const Quaternion& b, const Arg& t, SourceLine line = here());

}  // namespace firn
