// GLSL's functions of vectors: lengths, products and reflections, and elementwise functions by
// component.
#pragma once
#include "compiler/frontend/vec.h"

namespace firn {

/// x - floor(x) and 1 / sqrt(x) by GLSL's names.
///
/// Examples: `fract(tensor({1.75f, -0.25f}))` is `{0.75, 0.75}`,
/// `inversesqrt(tensor({4.0f, 0.0f}))` is `{0.5, inf}`.
/// @{
inline Tensor fract(const Operand& x) { return frac(x); }
inline Tensor inversesqrt(const Operand& x) { return rsqrt(x); }
/// @}

/// @cond

// Component by component, see Vec.
#define FIRN_VEC_UNARY(name, kind)                                                               \
    template <size_t N, VecKind K>                                                               \
    requires(kind) Vec<N, K> name(const Vec<N, K>& v, SourceLine line = here()) {                \
        return by_component<K>([](const Arg& x) { return name(Operand(x.tensor(), x.line())); }, \
                               VecArg<N, K>(v, line));                                           \
    }
FIRN_VEC_UNARY(abs, K != VecKind::Bool)
FIRN_VEC_UNARY(sign, K != VecKind::Bool)
FIRN_VEC_UNARY(floor, K == VecKind::Float)
FIRN_VEC_UNARY(ceil, K == VecKind::Float)
FIRN_VEC_UNARY(round, K == VecKind::Float)
FIRN_VEC_UNARY(trunc, K == VecKind::Float)
FIRN_VEC_UNARY(fract, K == VecKind::Float)
FIRN_VEC_UNARY(exp, K == VecKind::Float)
FIRN_VEC_UNARY(exp2, K == VecKind::Float)
FIRN_VEC_UNARY(log, K == VecKind::Float)
FIRN_VEC_UNARY(log2, K == VecKind::Float)
FIRN_VEC_UNARY(sqrt, K == VecKind::Float)
FIRN_VEC_UNARY(inversesqrt, K == VecKind::Float)
FIRN_VEC_UNARY(sin, K == VecKind::Float)
FIRN_VEC_UNARY(cos, K == VecKind::Float)
FIRN_VEC_UNARY(tan, K == VecKind::Float)
FIRN_VEC_UNARY(asin, K == VecKind::Float)
FIRN_VEC_UNARY(acos, K == VecKind::Float)
FIRN_VEC_UNARY(atan, K == VecKind::Float)
#undef FIRN_VEC_UNARY

/// @endcond

/// The negative, component by component.
template <size_t N, VecKind K>
requires(K == VecKind::Float || K == VecKind::Int) Vec<N, K>
operator-(const Vec<N, K>& v) {
    Vec<N, K> out;
    for (size_t k = 0; k < N; ++k) out[k] = -v[k];
    return out;
}
/// Negates each component.
template <size_t N>
Vec<N, VecKind::Bool> operator!(const Vec<N, VecKind::Bool>& v) {
    Vec<N, VecKind::Bool> out;
    for (size_t k = 0; k < N; ++k) out[k] = !v[k];
    return out;
}

/// The sum of the products of components.
///
/// Example: `dot(vec2(1, 2), vec2(3, 4))` is `11`.
template <size_t N>
Tensor dot(const Vec<N>& a, const Vec<N>& b, SourceLine line = here()) {
    LineScope at(line);
    Tensor sum = a.x * b.x;
    for (size_t k = 1; k < N; ++k) sum = sum + a[k] * b[k];
    return sum;
}
/// The vector product: at right angles to both, by the right hand, and as long as the area between
/// them.
///
/// Example: `cross(vec3(1, 0, 0), vec3(0, 2, 0))` is `{0, 0, 2}`.
inline vec3 cross(const vec3& a, const vec3& b, SourceLine line = here()) {
    LineScope at(line);
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
/// The Euclidean length; squares that overflow give inf.
///
/// Example: `length(vec2(3, 4))` is `5`.
template <size_t N>
Tensor length(const Vec<N>& v, SourceLine line = here()) {
    LineScope at(line);
    return sqrt(dot(v, v));
}
/// The length of the difference of two points.
///
/// Example: `distance(vec2(1, 1), vec2(4, 5))` is `5`.
template <size_t N>
Tensor distance(const Vec<N>& a, const Vec<N>& b, SourceLine line = here()) {
    LineScope at(line);
    return length(a - b);
}
/// The vector of length 1 in its direction; not a number where the length is 0.
///
/// Examples: `normalize(vec2(3, 4))` is `{0.6, 0.8}`, `normalize(vec2(0))` is `{nan, nan}`.
template <size_t N>
Vec<N> normalize(const Vec<N>& v, SourceLine line = here()) {
    LineScope at(line);
    return v * rsqrt(dot(v, v));
}
/// The direction v mirrored at the plane with normal n, of length 1.
///
/// Example: `reflect(vec2(1, -1), vec2(0, 1))` is `{1, 1}`.
template <size_t N>
Vec<N> reflect(const Vec<N>& v, const Vec<N>& n, SourceLine line = here()) {
    LineScope at(line);
    return v - n * (2.0f * dot(n, v));
}
/// The direction v, of length 1, refracted at a surface with normal n; eta is the index of
/// refraction before it over that behind it. Zero at total reflection.
///
/// Examples: into something denser `refract(vec2(0.6f, -0.8f), vec2(0, 1), 0.5f)` is
/// `{0.3, -0.953939}`, and out of it `refract(vec2(0.6f, -0.8f), vec2(0, 1), 2.0f)` is `{0, 0}`.
template <size_t N>
Vec<N> refract(const Vec<N>& v, const Vec<N>& n, const Arg& eta, SourceLine line = here()) {
    LineScope at(line);
    Tensor ratio = to_kind(eta, VecKind::Float), along = dot(n, v);
    Tensor rest = 1.0f - ratio * ratio * (1.0f - along * along);
    return select(rest < 0.0f, 0.0f, v * ratio - n * (ratio * along + sqrt(max(rest, 0.0f))));
}
/// n where `facing` points against v, else -n: with the normal for both it points against v.
///
/// Example: `faceforward(vec2(0, 1), vec2(1, 1), vec2(0, 1))` is `{0, -1}`.
template <size_t N>
Vec<N> faceforward(const Vec<N>& n, const Vec<N>& v, const Vec<N>& facing,
                   SourceLine line = here()) {
    LineScope at(line);
    return select(dot(facing, v) < 0.0f, n, -n);
}

}  // namespace firn
