// Elementwise functions on tensors.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

// Integers and bools become f32 where the result is a real number; other floats keep their type.
/// The absolute value, in the type of x; that of the least integer is itself.
///
/// Example: `abs(tensor({-1.5f, 2.0f}))` is `{1.5, 2}`.
Tensor abs(const Operand& x);
Tensor sign(const Operand& x);  // -1, 0 or 1
Tensor floor(const Operand& x);
Tensor ceil(const Operand& x);
Tensor round(const Operand& x);  // ties to even
Tensor trunc(const Operand& x);
Tensor frac(const Operand& x);  // x - floor(x)
Tensor exp(const Operand& x);
Tensor exp2(const Operand& x);
Tensor expm1(const Operand& x);  // exp(x) - 1, exact near 0
Tensor log(const Operand& x);
Tensor log2(const Operand& x);
Tensor log1p(const Operand& x);  // log(1 + x), exact near 0
Tensor sqrt(const Operand& x);
Tensor rsqrt(const Operand& x);  // 1 / sqrt(x)
Tensor rcp(const Operand& x);    // 1 / x
Tensor sin(const Operand& x);
Tensor cos(const Operand& x);
Tensor tan(const Operand& x);
Tensor asin(const Operand& x);
Tensor acos(const Operand& x);
Tensor atan(const Operand& x);
Tensor sinh(const Operand& x);
Tensor cosh(const Operand& x);
Tensor tanh(const Operand& x);
Tensor erf(const Operand& x);
Tensor is_nan(const Operand& x);
Tensor is_inf(const Operand& x);
Tensor reverse_bits(const Operand& x);  // integers
Tensor square(const Operand& x);        // x * x
Tensor sigmoid(const Operand& x);       // 1 / (1 + exp(-x))
Tensor log10(const Operand& x);

struct WholeAndFraction {
    Tensor whole, fraction;
};
/// x cut towards 0, and what is left with the sign of x (0 where x is infinite), as C's modf.
/// Integers become f32.
WholeAndFraction modf(const Operand& x);

/// Converted to `dtype`: floats to integers truncate and saturate, nan becomes 0; to bool is != 0.
Tensor cast(const Operand& x, DType dtype);
/// `cast<float>(x)`, `cast<int>(x)`, `cast<bool>(x)`.
template <Arithmetic T>
Tensor cast(const Operand& x);
/// The same bits read as another type of the same width.
Tensor bitcast(const Operand& x, DType dtype);

// The operations below take C++ scalars beside at least one tensor, and compute in the type that
// all of them meet in.
Tensor pow_of(const Arg& a, const Arg& b);
Tensor atan2_of(const Arg& a, const Arg& b);
Tensor min_of(const Arg& a, const Arg& b);
Tensor max_of(const Arg& a, const Arg& b);
Tensor min_of(const Arg& a, const Arg& b, const Arg& c);
Tensor max_of(const Arg& a, const Arg& b, const Arg& c);
Tensor clamp_of(const Arg& x, const Arg& low, const Arg& high);
Tensor select_of(const Arg& condition, const Arg& a, const Arg& b);
Tensor mix_of(const Arg& a, const Arg& b, const Arg& t);
Tensor smoothstep_of(const Arg& low, const Arg& high, const Arg& x);
Tensor step_of(const Arg& edge, const Arg& x);
Tensor fma_of(const Arg& a, const Arg& b, const Arg& c);
Tensor where_of(const Arg& condition, const Arg& a, const Arg& b);
Tensor clip_of(const Arg& x, const Arg& low, const Arg& high);
Tensor hypot_of(const Arg& x, const Arg& y);
Tensor floor_div_of(const Arg& a, const Arg& b);
Tensor remainder_of(const Arg& a, const Arg& b);
Tensor logaddexp_of(const Arg& a, const Arg& b);

/// a to the power b. Integers: by squaring; a negative exponent gives 0 (or 1, -1 for such a base).
template <class A, class B>
requires SomeTensor<A, B> Tensor pow(const A& a, const B& b, SourceLine line = here()) {
    return pow_of(Arg(a, line), Arg(b, line));
}
/// The angle of the point (x, y), in (-pi, pi].
template <class A, class B>
requires SomeTensor<A, B> Tensor atan2(const A& y, const B& x, SourceLine line = here()) {
    return atan2_of(Arg(y, line), Arg(x, line));
}
/// The smallest of two or three, element by element; where one is nan, the other.
template <class A, class B>
requires SomeTensor<A, B> Tensor min(const A& a, const B& b, SourceLine line = here()) {
    return min_of(Arg(a, line), Arg(b, line));
}
template <class A, class B, class C>
requires SomeTensor<A, B, C> Tensor min(const A& a, const B& b, const C& c,
                                        SourceLine line = here()) {
    return min_of(Arg(a, line), Arg(b, line), Arg(c, line));
}
/// The largest of two or three, element by element; where one is nan, the other.
template <class A, class B>
requires SomeTensor<A, B> Tensor max(const A& a, const B& b, SourceLine line = here()) {
    return max_of(Arg(a, line), Arg(b, line));
}
template <class A, class B, class C>
requires SomeTensor<A, B, C> Tensor max(const A& a, const B& b, const C& c,
                                        SourceLine line = here()) {
    return max_of(Arg(a, line), Arg(b, line), Arg(c, line));
}
/// a where the condition holds, else b. Both are computed; the condition is a bool.
template <class C, class A, class B>
requires SomeTensor<C, A, B> Tensor select(const C& condition, const A& a, const B& b,
                                           SourceLine line = here()) {
    return select_of(Arg(condition, line), Arg(a, line), Arg(b, line));
}
/// x kept between low and high.
template <class X, class A, class B>
requires SomeTensor<X, A, B> Tensor clamp(const X& x, const A& low, const B& high,
                                          SourceLine line = here()) {
    return clamp_of(Arg(x, line), Arg(low, line), Arg(high, line));
}
/// a at t = 0, b at t = 1, and on the line between.
template <class A, class B, class T>
requires SomeTensor<A, B, T> Tensor mix(const A& a, const B& b, const T& t,
                                        SourceLine line = here()) {
    return mix_of(Arg(a, line), Arg(b, line), Arg(t, line));
}
/// 0 where x < edge, else 1, as f32.
template <class E, class X>
requires SomeTensor<E, X> Tensor step(const E& edge, const X& x, SourceLine line = here()) {
    return step_of(Arg(edge, line), Arg(x, line));
}
/// 0 below low, 1 above high, and 3t^2 - 2t^3 between.
template <class A, class B, class X>
requires SomeTensor<A, B, X> Tensor smoothstep(const A& low, const B& high, const X& x,
                                               SourceLine line = here()) {
    return smoothstep_of(Arg(low, line), Arg(high, line), Arg(x, line));
}
/// a * b + c.
template <class A, class B, class C>
requires SomeTensor<A, B, C> Tensor fma(const A& a, const B& b, const C& c,
                                        SourceLine line = here()) {
    return fma_of(Arg(a, line), Arg(b, line), Arg(c, line));
}

/// As numpy's where: a where the condition is not 0, else b; the condition is of any type. `select`
/// insists on a bool.
template <class C, class A, class B>
requires SomeTensor<C, A, B> Tensor where(const C& condition, const A& a, const B& b,
                                          SourceLine line = here()) {
    return where_of(Arg(condition, line), Arg(a, line), Arg(b, line));
}
/// As numpy's clip: x kept between low and high, and nan stays nan, which `clamp` turns into low.
/// Where low > high it is high.
template <class X, class A, class B>
requires SomeTensor<X, A, B> Tensor clip(const X& x, const A& low, const B& high,
                                         SourceLine line = here()) {
    return clip_of(Arg(x, line), Arg(low, line), Arg(high, line));
}
/// sqrt(x x + y y) without overflow on the way; infinite where one of them is, even beside nan.
template <class A, class B>
requires SomeTensor<A, B> Tensor hypot(const A& x, const B& y, SourceLine line = here()) {
    return hypot_of(Arg(x, line), Arg(y, line));
}
/// a / b rounded down, where `/` of integers truncates. Integers: x / 0 is 0.
template <class A, class B>
requires SomeTensor<A, B> Tensor floor_div(const A& a, const B& b, SourceLine line = here()) {
    return floor_div_of(Arg(a, line), Arg(b, line));
}
/// What floor_div leaves, with the sign of b, where `%` of integers has the sign of a. Integers:
/// x % 0 is 0.
template <class A, class B>
requires SomeTensor<A, B> Tensor remainder(const A& a, const B& b, SourceLine line = here()) {
    return remainder_of(Arg(a, line), Arg(b, line));
}
/// log(exp(a) + exp(b)) without overflow on the way; nan where one of them is.
template <class A, class B>
requires SomeTensor<A, B> Tensor logaddexp(const A& a, const B& b, SourceLine line = here()) {
    return logaddexp_of(Arg(a, line), Arg(b, line));
}

template <Arithmetic T>
Tensor cast(const Operand& x) {
    if constexpr (std::is_same_v<T, bool>)
        return cast(x, boolean);
    else {
        static_assert(stored_as<T>().has_value(), "there is no dtype with elements of this type");
        return cast(x, *stored_as<T>());
    }
}

}  // namespace firn
