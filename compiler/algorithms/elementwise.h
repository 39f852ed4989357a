// Elementwise functions by numpy's and C's names, composed of those that the language has.
#pragma once
#include <optional>

#include "compiler/frontend/math.h"

namespace firn {

/// The inverse of sinh. Integers and bools become f32, f16 and bf16 are computed in f32; to a few
/// units of rounding of the result, near 0 and for large x too.
///
/// Example: `asinh(Tensor(1.0f))` is `0.88137`.
Tensor asinh(const Operand& x);
/// The inverse of cosh, 0 or more; nan below 1. Types and rounding are those of asinh.
///
/// Example: `acosh(tensor({2.0f, 0.5f}))` is `{1.31696, nan}`.
Tensor acosh(const Operand& x);
/// The inverse of tanh; infinite at 1 and -1, nan beyond. Types and rounding are those of asinh.
///
/// Example: `atanh(tensor({0.5f, -1.0f, 2.0f}))` is `{0.54931, -inf, nan}`.
Tensor atanh(const Operand& x);
/// The cube root, with the sign of x. Types and rounding are those of asinh.
///
/// Example: `cbrt(tensor({27.0f, -8.0f}))` is `{3, -2}`.
Tensor cbrt(const Operand& x);
/// Returns whether x is a number, neither infinite nor nan; true for integers and bools.
///
/// Example: `is_finite(tensor({1.0f, NAN, -INFINITY}))` is `{true, false, false}`.
Tensor is_finite(const Operand& x);
/// Radians from degrees. Types are those of asinh.
///
/// Example: `deg2rad(Tensor(180))` is `3.14159`.
Tensor deg2rad(const Operand& x);
/// Degrees from radians. Types are those of asinh.
///
/// Example: `rad2deg(Tensor(3.14159265f))` is `180`.
Tensor rad2deg(const Operand& x);
/// sin(pi x) / (pi x), 1 at 0: numpy's, normalised. Types and rounding are those of asinh.
///
/// Example: `sinc(tensor({0.0f, 0.5f, 1.0f}))` is `{1, 0.63662, 0}`.
Tensor sinc(const Operand& x);

/// The replacements for nan and for infinities.
struct NanToNumOptions {
    double nan = 0;
    std::optional<double> posinf = std::nullopt;  ///< none: the largest number of the type
    std::optional<double> neginf = std::nullopt;  ///< none: the lowest
};
/// nan and infinities replaced by numbers; other types than floats stay.
///
/// Example: `nan_to_num(tensor({NAN, INFINITY, -INFINITY}), {.posinf = 7})` is
/// `{0, 7, -3.40282e38}`.
Tensor nan_to_num(const Operand& x, const NanToNumOptions& options = {});

/// @cond

Tensor heaviside_of(const Arg& x, const Arg& h0);
Tensor copysign_of(const Arg& x, const Arg& sign);

/// @endcond

/// 0 where x < 0, h0 where it is 0, 1 where x > 0, nan where it is nan; a float.
///
/// Example: `heaviside(tensor({-2.0f, 0.0f, 2.0f}), 0.5f)` is `{0, 0.5, 1}`.
template <class X, class H>
requires SomeTensor<X, H> Tensor heaviside(const X& x, const H& h0, SourceLine line = here()) {
    return heaviside_of(Arg(x, line), Arg(h0, line));
}
/// |x| with the sign of the other, also that of -0 and nan; a float.
///
/// Example: `copysign(tensor({1.0f, -2.0f}), -0.0f)` is `{-1, -2}`.
template <class X, class S>
requires SomeTensor<X, S> Tensor copysign(const X& x, const S& sign, SourceLine line = here()) {
    return copysign_of(Arg(x, line), Arg(sign, line));
}

}  // namespace firn
