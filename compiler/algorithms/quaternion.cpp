// Products of vectors and numbers.
#include "compiler/algorithms/quaternion.h"

namespace firn {
namespace {

Quaternion scaled(const Quaternion& q, const Tensor& s) { return {q.v * s, q.w * s}; }

}  // namespace

Quaternion operator*(const Quaternion& a, const Quaternion& b) {
    return {b.v * a.w + a.v * b.w + cross(a.v, b.v), a.w * b.w - dot(a.v, b.v)};
}

Quaternion axis_angle(const vec3& axis, const Arg& angle, SourceLine line) {
    LineScope at(line);
    const Tensor half = to_kind(angle, VecKind::Float) * 0.5f;
    return {normalize(axis) * sin(half), cos(half)};
}

Quaternion conj(const Quaternion& q, SourceLine line) {
    LineScope at(line);
    return {-q.v, q.w};
}

Tensor dot(const Quaternion& a, const Quaternion& b, SourceLine line) {
    LineScope at(line);
    return dot(a.v, b.v) + a.w * b.w;
}

Quaternion normalize(const Quaternion& q, SourceLine line) {
    LineScope at(line);
    return scaled(q, rsqrt(dot(q, q)));
}

vec3 rotate(const Quaternion& q, const vec3& p, SourceLine line) {
    LineScope at(line);
    return p + cross(q.v, cross(q.v, p) + p * q.w) * 2.0f;
}

mat3 rotation_matrix(const Quaternion& q, SourceLine line) {
    LineScope at(line);
    const Tensor &x = q.v.x, &y = q.v.y, &z = q.v.z, &w = q.w;
    return mat3(vec3(1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)),
                vec3(2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)),
                vec3(2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)));
}

Quaternion slerp(const Quaternion& a, const Quaternion& b, const Arg& t, SourceLine line) {
    LineScope at(line);
    const Tensor share = to_kind(t, VecKind::Float), along = dot(a, b);
    const Tensor cosine = min(abs(along), 1.0f), angle = acos(cosine), sine = sin(angle);
    // Two close quaternions lie on a line, to all digits.
    const Tensor close = cosine > 0.9995f, safe = select(close, 1, sine);
    const Tensor from = select(close, 1 - share, sin((1 - share) * angle) / safe);
    const Tensor to = select(close, share, sin(share * angle) / safe);
    const Quaternion first = scaled(a, from), second = scaled(b, select(along < 0, -to, to));
    return normalize(Quaternion{first.v + second.v, first.w + second.w});
}

}  // namespace firn
