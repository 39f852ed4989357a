// Elementwise functions by numpy's and C's names, composed of those that the language has.
#pragma once
#include <optional>

#include "compiler/frontend/math.h"

namespace firn {

// Integers and bools become f32, f16 and bf16 are computed in f32. To a few units of rounding of
// the result, near 0 and for large x too.
Tensor asinh(const Operand& x);
Tensor acosh(const Operand& x);  // nan below 1
Tensor atanh(const Operand& x);  // infinite at 1 and -1, nan beyond
Tensor cbrt(const Operand& x);   // with the sign of x
Tensor deg2rad(const Operand& x);
Tensor rad2deg(const Operand& x);
Tensor sinc(const Operand& x);  // sin(pi x) / (pi x), 1 at 0: numpy's, normalised

struct NanToNumOptions {
    double nan = 0;
    std::optional<double> posinf = std::nullopt;  // none: the largest number of the type
    std::optional<double> neginf = std::nullopt;  // none: the lowest
};
/// nan and infinities replaced by numbers; other types than floats stay.
Tensor nan_to_num(const Operand& x, const NanToNumOptions& options = {});

Tensor heaviside_of(const Arg& x, const Arg& h0);
Tensor copysign_of(const Arg& x, const Arg& sign);
Tensor fmod_of(const Arg& a, const Arg& b);

/// 0 where x < 0, h0 where it is 0, 1 where x > 0, nan where it is nan; a float.
template <class X, class H>
requires SomeTensor<X, H> Tensor heaviside(const X& x, const H& h0, SourceLine line = here()) {
    return heaviside_of(Arg(x, line), Arg(h0, line));
}
/// |x| with the sign of the other, also that of -0 and nan; a float.
template <class X, class S>
requires SomeTensor<X, S> Tensor copysign(const X& x, const S& sign, SourceLine line = here()) {
    return copysign_of(Arg(x, line), Arg(sign, line));
}
/// What is left of a when whole multiples of b are taken away, with the sign of a, as C's fmod;
/// numpy's `remainder` has the sign of b. Off by a rounding of a, so that next to a multiple it
/// may be 0 instead of nearly b; a itself where b is infinite.
/// Integers: a % 0 is 0.
template <class A, class B>
requires SomeTensor<A, B> Tensor fmod(const A& a, const B& b, SourceLine line = here()) {
    return fmod_of(Arg(a, line), Arg(b, line));
}

}  // namespace firn
