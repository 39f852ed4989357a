// Elementwise functions on tensors.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// The absolute value, in the type of x (bools and integers of 8 and 16 bits: i32); that of the
/// least integer is itself.
///
/// Example: `abs(tensor({-1.5f, 2.0f}))` is `{1.5, 2}`.
Tensor abs(const Operand& x);
/// -1, 0 or 1, in the type of x as for abs.
///
/// Example: `sign(tensor({-3, 0, 7}))` is `{-1, 0, 1}`.
Tensor sign(const Operand& x);
/// The next whole number below, or x itself.
///
/// Integers and bools become f32, here and in all functions whose result is a real number; other
/// floats keep their type.
///
/// Example: `floor(tensor({1.5f, -1.5f, 2.0f}))` is `{1, -2, 2}`.
Tensor floor(const Operand& x);
/// The next whole number above, or x itself.
///
/// Example: `ceil(tensor({1.5f, -1.5f, 2.0f}))` is `{2, -1, 2}`.
Tensor ceil(const Operand& x);
/// The nearest whole number; of two, the even one.
///
/// Example: `round(tensor({0.5f, 1.5f, 2.5f, -0.7f}))` is `{0, 2, 2, -1}`.
Tensor round(const Operand& x);
/// The whole part: x cut towards 0.
///
/// Example: `trunc(tensor({1.5f, -1.5f}))` is `{1, -1}`.
Tensor trunc(const Operand& x);
/// x - floor(x), from 0 on also where x is negative.
///
/// Example: `frac(tensor({1.25f, -0.25f}))` is `{0.25, 0.75}`.
Tensor frac(const Operand& x);
/// e to the power x.
///
/// Example: `exp(tensor({0.0f, 1.0f, -1000.0f}))` is `{1, 2.718282, 0}`.
Tensor exp(const Operand& x);
/// 2 to the power x.
///
/// Example: `exp2(tensor({3.0f, -1.0f}))` is `{8, 0.5}`.
Tensor exp2(const Operand& x);
/// exp(x) - 1, exact near 0.
///
/// Examples: `expm1(tensor({1.0f}))` is `{1.718282}`, `expm1(tensor({1e-8f})) * 1e8f` is `{1}`.
Tensor expm1(const Operand& x);
/// The natural logarithm: of 0 it is -inf, of negative numbers nan.
///
/// Example: `log(tensor({2.718282f, 0.0f, -1.0f}))` is `{1, -inf, nan}`.
Tensor log(const Operand& x);
/// The logarithm to base 2.
///
/// Example: `log2(tensor({8.0f, 0.5f}))` is `{3, -1}`.
Tensor log2(const Operand& x);
/// log(1 + x), exact near 0.
///
/// Examples: `log1p(tensor({1.0f, -1.0f}))` is `{0.693147, -inf}`,
/// `log1p(tensor({1e-8f})) * 1e8f` is `{1}`.
Tensor log1p(const Operand& x);
/// The square root: of negative numbers nan.
///
/// Example: `sqrt(tensor({4, 2, -1}))` is `{2, 1.414214, nan}`.
Tensor sqrt(const Operand& x);
/// 1 / sqrt(x).
///
/// Example: `rsqrt(tensor({4.0f, 0.0f}))` is `{0.5, inf}`.
Tensor rsqrt(const Operand& x);
/// 1 / x; of integers as a float.
///
/// Example: `rcp(tensor({4, 0}))` is `{0.25, inf}`.
Tensor rcp(const Operand& x);
/// The sine of an angle in radians.
///
/// Example: `sin(tensor({0.0f, 1.0f}))` is `{0, 0.841471}`.
Tensor sin(const Operand& x);
/// The cosine of an angle in radians.
///
/// Example: `cos(tensor({0.0f, 1.0f}))` is `{1, 0.540302}`.
Tensor cos(const Operand& x);
/// The tangent of an angle in radians.
///
/// Example: `tan(tensor({0.0f, 1.0f}))` is `{0, 1.557408}`.
Tensor tan(const Operand& x);
/// The angle in [-pi/2, pi/2] with sine x; outside of [-1, 1] nan.
///
/// Example: `asin(tensor({1.0f, -0.5f, 2.0f}))` is `{1.570796, -0.523599, nan}`.
Tensor asin(const Operand& x);
/// The angle in [0, pi] with cosine x; outside of [-1, 1] nan.
///
/// Example: `acos(tensor({1.0f, -1.0f, 2.0f}))` is `{0, 3.141593, nan}`.
Tensor acos(const Operand& x);
/// The angle in [-pi/2, pi/2] with tangent x; `atan2` distinguishes the quadrants.
///
/// Example: `atan(tensor({1.0f, -INFINITY}))` is `{0.785398, -1.570796}`.
Tensor atan(const Operand& x);
/// The hyperbolic sine.
///
/// Example: `sinh(tensor({0.0f, 1.0f}))` is `{0, 1.175201}`.
Tensor sinh(const Operand& x);
/// The hyperbolic cosine.
///
/// Example: `cosh(tensor({0.0f, 1.0f}))` is `{1, 1.543081}`.
Tensor cosh(const Operand& x);
/// The hyperbolic tangent, in [-1, 1].
///
/// Example: `tanh(tensor({1.0f, -100.0f}))` is `{0.761594, -1}`.
Tensor tanh(const Operand& x);
/// The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
///
/// Example: `erf(tensor({0.5f, -10.0f}))` is `{0.5205, -1}`.
Tensor erf(const Operand& x);
/// True where x is not a number, as a bool; never of integers.
///
/// Example: `is_nan(tensor({1.0f, NAN, INFINITY}))` is `{false, true, false}`.
Tensor is_nan(const Operand& x);
/// True where x is infinite, of either sign, as a bool; never of integers.
///
/// Example: `is_inf(tensor({1.0f, NAN, -INFINITY}))` is `{false, false, true}`.
Tensor is_inf(const Operand& x);
/// The bits of integers from the last to the first.
///
/// Example: `reverse_bits(tensor({1u, 6u})) >> 28` is `{8, 6}`.
Tensor reverse_bits(const Operand& x);
/// x * x.
///
/// Example: `square(tensor({3, -2}))` is `{9, 4}`.
Tensor square(const Operand& x);
/// The logistic function 1 / (1 + exp(-x)), from 0 to 1.
///
/// Example: `sigmoid(tensor({0.0f, 1.0f, -1000.0f}))` is `{0.5, 0.731059, 0}`.
Tensor sigmoid(const Operand& x);
/// The logarithm to base 10.
///
/// Example: `log10(tensor({1000, 1}))` is `{3, 0}`.
Tensor log10(const Operand& x);

/// The result of modf.
struct WholeAndFraction {
    Tensor whole, fraction;
};
/// x rounded towards 0, and the remaining fraction with the sign of x (0 where x is infinite), as
/// C's modf. Integers become f32.
///
/// Examples: `modf(tensor({2.5f, -2.5f})).whole` is `{2, -2}`,
/// `modf(tensor({2.5f, -2.5f, INFINITY})).fraction` is `{0.5, -0.5, 0}`.
WholeAndFraction modf(const Operand& x);

/// Converted to `dtype`: floats to integers truncate and saturate, nan becomes 0; integers wrap; to
/// bool is != 0.
///
/// Examples: `cast(tensor({2.7f, -2.7f, NAN}), i32)` is `{2, -2, 0}`, `cast(tensor({-1}), u8)` is
/// `{255}`.
Tensor cast(const Operand& x, DType dtype);
/// Converted to the dtype of a type of C++: `cast<float>(x)`, `cast<int>(x)`, `cast<bool>(x)`.
///
/// Example: `cast<bool>(tensor({0.0f, 0.5f, NAN}))` is `{false, true, true}`.
template <Arithmetic T>
Tensor cast(const Operand& x);
/// The same bits read as another type of the same width.
///
/// Example: `bitcast(tensor({1.0f, -0.0f}), u32)` is `{1065353216, 2147483648}`.
Tensor bitcast(const Operand& x, DType dtype);

/// @cond

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
Tensor fmod_of(const Arg& a, const Arg& b);
Tensor floor_div_of(const Arg& a, const Arg& b);
Tensor remainder_of(const Arg& a, const Arg& b);
Tensor logaddexp_of(const Arg& a, const Arg& b);

/// @endcond

/// a to the power b. Integers: by squaring; a negative exponent gives 0 (or 1, -1 for such a base).
///
/// This and the functions below take C++ scalars beside at least one tensor, and compute in the
/// type that all of them meet in.
///
/// Examples: `pow(tensor({2, 3}), 2)` is `{4, 9}`, `pow(2.0f, tensor({0.5f, -1.0f}))` is
/// `{1.414214, 0.5}`, `pow(tensor({2, 1, -1}), -3)` is `{0, 1, -1}`.
template <class A, class B>
requires SomeTensor<A, B> Tensor pow(const A& a, const B& b, SourceLine line = here()) {
    return pow_of(Arg(a, line), Arg(b, line));
}
/// The angle of the point (x, y), in [-pi, pi]: -pi where x is negative and y is -0.
///
/// Example: `atan2(tensor({1.0f, -1.0f, 0.0f}), -1)` is `{2.356194, -2.356194, 3.141593}`.
template <class A, class B>
requires SomeTensor<A, B> Tensor atan2(const A& y, const B& x, SourceLine line = here()) {
    return atan2_of(Arg(y, line), Arg(x, line));
}
/// The smallest of two or three, element by element; where one is nan, the other.
///
/// Examples: `min(tensor({1, 5}), tensor({4, 2}))` is `{1, 2}`, `min(tensor({3, 1}), 2, 4)` is
/// `{2, 1}`, `min(tensor({NAN, 2.0f}), 1)` is `{1, 1}`.
/// @{
template <class A, class B>
requires SomeTensor<A, B> Tensor min(const A& a, const B& b, SourceLine line = here()) {
    return min_of(Arg(a, line), Arg(b, line));
}
template <class A, class B, class C>
requires SomeTensor<A, B, C> Tensor min(const A& a, const B& b, const C& c,
                                        SourceLine line = here()) {
    return min_of(Arg(a, line), Arg(b, line), Arg(c, line));
}
/// @}

/// The largest of two or three, element by element; where one is nan, the other.
///
/// Examples: `max(tensor({1, 5}), tensor({4, 2}))` is `{4, 5}`, `max(tensor({3, 1}), 2, 0)` is
/// `{3, 2}`, `max(tensor({NAN, 2.0f}), 1)` is `{1, 2}`.
/// @{
template <class A, class B>
requires SomeTensor<A, B> Tensor max(const A& a, const B& b, SourceLine line = here()) {
    return max_of(Arg(a, line), Arg(b, line));
}
template <class A, class B, class C>
requires SomeTensor<A, B, C> Tensor max(const A& a, const B& b, const C& c,
                                        SourceLine line = here()) {
    return max_of(Arg(a, line), Arg(b, line), Arg(c, line));
}
/// @}

/// a where the condition holds, else b. Both are computed; the condition is a bool.
///
/// Examples: `select(tensor({true, false}), 1, 2)` is `{1, 2}`; after
/// `Tensor x = tensor({4.0f, -4.0f});` `select(x > 0, sqrt(x), 0)` is `{2, 0}`.
template <class C, class A, class B>
requires SomeTensor<C, A, B> Tensor select(const C& condition, const A& a, const B& b,
                                           SourceLine line = here()) {
    return select_of(Arg(condition, line), Arg(a, line), Arg(b, line));
}
/// x clamped between low and high; nan becomes low. If low > high the result is high.
///
/// Example: `clamp(tensor({-1.0f, 5.0f, NAN}), 0, 4)` is `{0, 4, 0}`.
template <class X, class A, class B>
requires SomeTensor<X, A, B> Tensor clamp(const X& x, const A& low, const B& high,
                                          SourceLine line = here()) {
    return clamp_of(Arg(x, line), Arg(low, line), Arg(high, line));
}
/// a at t = 0, b at t = 1, and on the line between; also beyond.
///
/// Example: `mix(tensor({0.0f, 10.0f}), 20.0f, 0.25f)` is `{5, 12.5}`.
template <class A, class B, class T>
requires SomeTensor<A, B, T> Tensor mix(const A& a, const B& b, const T& t,
                                        SourceLine line = here()) {
    return mix_of(Arg(a, line), Arg(b, line), Arg(t, line));
}
/// 0 where x < edge, else 1, as f32.
///
/// Example: `step(0, tensor({-1.0f, 0.0f, 2.0f}))` is `{0, 1, 1}`.
template <class E, class X>
requires SomeTensor<E, X> Tensor step(const E& edge, const X& x, SourceLine line = here()) {
    return step_of(Arg(edge, line), Arg(x, line));
}
/// 0 below low, 1 above high, and 3t^2 - 2t^3 between, where t goes from 0 to 1.
///
/// Example: `smoothstep(0, 2, tensor({-1.0f, 0.5f, 3.0f}))` is `{0, 0.15625, 1}`.
template <class A, class B, class X>
requires SomeTensor<A, B, X> Tensor smoothstep(const A& low, const B& high, const X& x,
                                               SourceLine line = here()) {
    return smoothstep_of(Arg(low, line), Arg(high, line), Arg(x, line));
}
/// a * b + c.
///
/// Example: `fma(tensor({2, 3}), 10, 1)` is `{21, 31}`.
template <class A, class B, class C>
requires SomeTensor<A, B, C> Tensor fma(const A& a, const B& b, const C& c,
                                        SourceLine line = here()) {
    return fma_of(Arg(a, line), Arg(b, line), Arg(c, line));
}

/// Gives a where the condition is not 0, else b, as numpy's where; the condition has any type.
/// `select` requires a bool.
///
/// Example: `where(tensor({0, 2, -1}), 1, 5)` is `{5, 1, 1}`.
template <class C, class A, class B>
requires SomeTensor<C, A, B> Tensor where(const C& condition, const A& a, const B& b,
                                          SourceLine line = here()) {
    return where_of(Arg(condition, line), Arg(a, line), Arg(b, line));
}
/// Clamps x between low and high, as numpy's clip; nan stays nan, unlike `clamp`. If low > high the
/// result is high.
///
/// Example: `clip(tensor({-1.0f, 5.0f, NAN}), 0, 4)` is `{0, 4, nan}`.
template <class X, class A, class B>
requires SomeTensor<X, A, B> Tensor clip(const X& x, const A& low, const B& high,
                                         SourceLine line = here()) {
    return clip_of(Arg(x, line), Arg(low, line), Arg(high, line));
}
/// sqrt(x x + y y) without overflow on the way; infinite where one of them is, even beside nan.
///
/// Examples: `hypot(tensor({3.0f, 0.0f}), 4)` is `{5, 4}`, `hypot(tensor({3e20f}), 4e20f)` is
/// `{5e20}`.
template <class A, class B>
requires SomeTensor<A, B> Tensor hypot(const A& x, const B& y, SourceLine line = here()) {
    return hypot_of(Arg(x, line), Arg(y, line));
}
/// The exact remainder of the truncating division of a by b, with the sign of a, as C's fmod and
/// numpy's. `%` of floats has the sign of b instead. Floats: x by 0 and infinity by x give nan, x
/// by infinity gives x. Integers: as `%`.
///
/// Examples: `fmod(tensor({7.0f, -7.0f}), 4.0f)` is `{3, -3}`, `fmod(tensor({1e8f}), 3.0f)` is
/// `{1}`.
template <class A, class B>
requires SomeTensor<A, B> Tensor fmod(const A& a, const B& b, SourceLine line = here()) {
    return fmod_of(Arg(a, line), Arg(b, line));
}
/// a / b rounded down, where `/` of integers truncates. Floats: as numpy's floor_divide, the
/// rounding of the exact quotient, not of the rounded one. Integers: x / 0 is 0.
///
/// Examples: `floor_div(tensor({7, -7}), 2)` is `{3, -4}`, `floor_div(tensor({6.0f}), 0.1f)` is
/// `{59}`.
template <class A, class B>
requires SomeTensor<A, B> Tensor floor_div(const A& a, const B& b, SourceLine line = here()) {
    return floor_div_of(Arg(a, line), Arg(b, line));
}
/// The remainder of floor_div, with the sign of b, whereas `%` of integers has the sign of a.
/// Integers: x % 0 is 0.
///
/// Example: `remainder(tensor({7, -7}), 4)` is `{3, 1}`.
template <class A, class B>
requires SomeTensor<A, B> Tensor remainder(const A& a, const B& b, SourceLine line = here()) {
    return remainder_of(Arg(a, line), Arg(b, line));
}
/// log(exp(a) + exp(b)) without overflow on the way; nan where one of them is.
///
/// Example: `logaddexp(tensor({0.0f, 1000.0f}), tensor({0.0f, 1000.0f}))` is `{0.693147, 1000.69}`.
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

/// A Dimension with a floating-point number is a tensor: `1.0f / x.size(0)`.
template <class A, class B>
concept FloatWithDimension = (std::same_as<A, Dimension> && std::floating_point<B>) ||
                             (std::same_as<B, Dimension> && std::floating_point<A>);
/// Arithmetic of a float and a size, as of two tensors.
///
/// Example: `1.0f / zeros({4}).size(0)` is `0.25`.
/// @{
template <class A, class B>
requires FloatWithDimension<A, B> Tensor operator+(const A& a, const B& b) {
    return Tensor(a) + Tensor(b);
}
template <class A, class B>
requires FloatWithDimension<A, B> Tensor operator-(const A& a, const B& b) {
    return Tensor(a) - Tensor(b);
}
template <class A, class B>
requires FloatWithDimension<A, B> Tensor operator*(const A& a, const B& b) {
    return Tensor(a) * Tensor(b);
}
template <class A, class B>
requires FloatWithDimension<A, B> Tensor operator/(const A& a, const B& b) {
    return Tensor(a) / Tensor(b);
}
/// @}

/// The square root of a size, as of a tensor: `matmul(q, k.T()) / sqrt(q.size(-1))`.
///
/// Example: `sqrt(zeros({4}).size(0))` is `2`.
inline Tensor sqrt(const Dimension& size) { return sqrt(Tensor(size)); }

}  // namespace firn
