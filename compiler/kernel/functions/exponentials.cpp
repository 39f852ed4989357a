// Exponentials, logarithms and their kin of f32.
//
// Arguments of every size take the same way, and selects choose. Results and arguments below 2^-126
// may be 0.
#include <optional>

#include "compiler/kernel/functions/definitions.h"

namespace firn::definition {
namespace {

constexpr double kLogOfTwo = 0.693359375, kLogOfTwoRest = -2.12194440e-4;  // sum: ln(2)
constexpr double kTurnsPerLog = 1.44269504;                                // 1 / ln(2)

/// Returns an integer |n| < 2^22, a float, in the lower 22 bits: 1.5 2^23 leaves no room for less
/// than 1.
KernelValue integer_bits(KernelValue n) { return bits_of(n + 12582912.0); }

/// Returns exp(r) - 1 for |r| <= ln(2) / 2, to 3e-9 of exp(r) (a minimax fit). Its parts do not
/// wait for one another.
KernelValue exp_tail(KernelValue r) {
    const KernelValue z = r * r;
    const KernelValue low = 1.66665226e-1 * r + 4.9999994e-1;
    const KernelValue high = 8.3685331e-3 * r + 4.16682921e-2 + 1.38182915e-3 * z;
    return (low + high * z) * z + r;
}

/// Returns the same by the polynomial of Cephes expf, for functions that lose digits behind it.
KernelValue expm1_part(KernelValue r) {
    const KernelValue z = r * r;
    const KernelValue low = 1.6666665459e-1 * r + 5.0000001201e-1;
    const KernelValue middle = 8.3334519073e-3 * r + 4.1665795894e-2;
    const KernelValue high = 1.9875691500e-4 * r + 1.3981999507e-3;
    return ((high * z + middle) * z + low) * z + r;
}

/// Returns 2^n for an integer |n| <= 126.
KernelValue power_of_two(KernelValue n) { return float_of((integer_bits(n) + 127) << 23); }

/// Returns x 2^n for x in [1/2, 2): n is added to the exponent. Not for results below 2^-126 or
/// beyond 2^128.
KernelValue times_power(KernelValue x, KernelValue n) {
    return float_of(bits_of(x) + (integer_bits(n) << 23));
}

/// Returns x 2^n for |n| <= 252, in two steps so that neither factor leaves the range.
KernelValue scaled(KernelValue x, KernelValue n) {
    const KernelValue half = floor(n * 0.5);
    return x * power_of_two(half) * power_of_two(n - half);
}

/// Returns x - n ln(2), ln(2) in two parts (Cody and Waite).
KernelValue without_powers(KernelValue x, KernelValue n) {
    return (x - n * kLogOfTwo) - n * kLogOfTwoRest;
}

/// Returns 2^shift exp(x + low) for a `low` far smaller than x.
KernelValue exp_scaled(KernelValue x, std::optional<KernelValue> low, int shift) {
    const KernelValue bounded = clamp(x, -110.0, 95.0);
    const KernelValue n = round(bounded * kTurnsPerLog);
    KernelValue r = without_powers(bounded, n);
    if (low) r = r + *low;
    const KernelValue power = exp_tail(r) + 1.0;
    return select(x != x, x, scaled(power, shift ? n + shift : n));
}

/// Returns what lies beyond the range of `value`, an exponential of `x`: 0 below `least`, infinity
/// above `most`, nan.
KernelValue exp_edges(KernelValue value, KernelValue x, double least, double most) {
    const KernelValue beyond = x + infinity_like(x);
    return select(x <= most, select(x < least, 0.0, value), beyond);
}

}  // namespace

KernelValue exp_f32(KernelValue x) {
    const KernelValue n = round(x * kTurnsPerLog);
    const KernelValue power = exp_tail(without_powers(x, n)) + 1.0;
    return exp_edges(times_power(power, n), x, -87.33654, 88.72283);
}

KernelValue exp2_f32(KernelValue x) {
    const KernelValue n = round(x);
    const KernelValue power = exp_tail((x - n) * 0.693147181) + 1.0;
    return exp_edges(times_power(power, n), x, -126.0, 127.999992);
}

// 2^n (exp(r) - 1) + (2^n - 1), computed at half its size so that 2^128 is never needed.
KernelValue expm1_f32(KernelValue x) {
    const KernelValue bounded = clamp(x, -20.0, 95.0);
    const KernelValue n = min(round(bounded * kTurnsPerLog), 128.0);
    const KernelValue r = without_powers(bounded, n);
    const KernelValue half_scale = float_of((integer_bits(n) + 126) << 23);
    KernelValue value = (half_scale * expm1_part(r) + (half_scale - 0.5)) * 2.0;
    value = select(x > 89.0, infinity_like(x), value);
    // The sign of zero, and nan.
    return select(abs(x) > 1.0e-9, value, x);
}

namespace {

/// Returns log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)], by the polynomial of Cephes logf.
KernelValue log_tail(KernelValue f) {
    const KernelValue z = f * f;
    KernelValue p = f.same(7.0376836292e-2);
    p = p * f - 1.1514610310e-1;
    p = p * f + 1.1676998740e-1;
    p = p * f - 1.2420140846e-1;
    p = p * f + 1.4249322787e-1;
    p = p * f - 1.6668057665e-1;
    p = p * f + 2.0000714765e-1;
    p = p * f - 2.4999993993e-1;
    p = p * f + 3.3333331174e-1;
    return p * f * z - 0.5 * z;
}

struct Split {
    KernelValue fraction, exponent;
};

/// Returns f and e of x = (1 + f) 2^e with 1 + f in [sqrt(1/2), sqrt(2)], for finite x > 0.
/// Subnormal numbers are read as integers, so that targets that take them as 0 see them too.
Split split(KernelValue x) {
    const KernelValue bits = bitcast(x, i32);
    const KernelValue subnormal = bits < 0x00800000;
    const KernelValue normal = bitcast(cast(bits, f32), i32);
    const KernelValue above = select(subnormal, normal, bits) - 0x3f3504f3;
    const KernelValue shift = select(subnormal, x.same(149.0), x.same(0.0));
    const KernelValue exponent = cast(above >> 23, f32) - shift;
    return {bitcast((above & 0x007fffff) + 0x3f3504f3, f32) - 1.0, exponent};
}

/// Returns the logarithm of 0, infinity, negative numbers and nan; `value` of all others.
KernelValue log_edges(KernelValue x, KernelValue value) {
    const KernelValue bits = bits_of(x);
    KernelValue result = select(bits == 0x7f800000u, x, value);
    result = select(bits > 0x7f800000u, nan_like(x), result);
    return select((bits & 0x7fffffffu) == 0u, -infinity_like(x), result);
}

}  // namespace

// After Cephes logf.
KernelValue log_f32(KernelValue x) {
    const auto [f, e] = split(x);
    return log_edges(x, log_tail(f) + e * kLogOfTwoRest + f + e * kLogOfTwo);
}

KernelValue log2_f32(KernelValue x) {
    const auto [f, e] = split(x);
    // log2(e) in two parts: 1.4426950 = 1 + 0.4426950.
    const KernelValue tail = log_tail(f);
    return log_edges(x, tail * 0.44269504 + f * 0.44269504 + tail + f + e);
}

// log(1 + x) of the rounded sum and the part that rounding lost; near 0 without the sum.
KernelValue log1p_f32(KernelValue x) {
    const KernelValue sum = 1.0 + x;
    const KernelValue lost = select(x > 1.0, 1.0 - (sum - x), x - (sum - 1.0));
    const auto [fraction, e] = split(sum);
    const KernelValue whole = e == 0.0;
    const KernelValue f = select(whole, x, fraction);
    const KernelValue correction = select(whole, 0.0, lost / sum);
    const KernelValue value = log_tail(f) + (e * kLogOfTwoRest + correction) + f + e * kLogOfTwo;
    return select(abs(x) < 1.0e-8, x, log_edges(sum, value));
}

// Below 1 the polynomial of Cephes sinhf.
KernelValue sinh_f32(KernelValue x) {
    const KernelValue a = abs(x), z = x * x;
    KernelValue p = x.same(2.03721912945e-4);
    p = p * z + 8.33028376239e-3;
    p = p * z + 1.66667160211e-1;
    const KernelValue small = p * z * x + x;
    const KernelValue half_exp = exp_scaled(a, std::nullopt, -1);
    const KernelValue large = with_sign_of(half_exp - 0.25 / half_exp, x);
    return select(a > 1.0, large, small);
}

KernelValue cosh_f32(KernelValue x) {
    const KernelValue half_exp = exp_scaled(abs(x), std::nullopt, -1);
    return half_exp + 0.25 / half_exp;
}

// t / (t + 2) for t = exp(2 |x|) - 1, of which no digit is lost near 0. Beyond 9.1 it is 1.
KernelValue tanh_f32(KernelValue x) {
    const KernelValue y = 2.0 * min(abs(x), 9.5);
    const KernelValue n = round(y * kTurnsPerLog);
    const KernelValue r = without_powers(y, n);
    const KernelValue power = power_of_two(n);
    const KernelValue t = power * expm1_part(r) + (power - 1.0);
    // A target's quotient may be some units too large.
    const KernelValue bounded = min(t / (t + 2.0), 1.0);
    return select(x != x, x, with_sign_of(bounded, x));
}

// 2 / (1 + exp(-2x)), the exponential to 1e-7 near 0 and 1e-5 far out, where the sum written out
// has no digit left.
KernelValue one_plus_tanh_f32(KernelValue x) {
    const KernelValue t = clamp(x * -2.88539008, -126.0, 128.0);
    const KernelValue n = round(t);
    const KernelValue f = t - n, z = f * f;
    const KernelValue high = 1.326467266e-3 * f + 9.671555188e-3;
    const KernelValue middle = 5.550734258e-2 * f + 2.402224144e-1;
    const KernelValue power = (middle + high * z) * z + (6.931469771e-1 * f + 1.0);
    // An eighth of both, because devices may give 0 for what is divided by more than 2^126.
    const KernelValue value = 0.25 / (0.125 + 0.125 * times_power(power, n));
    return select(x != x, x, value);
}

// Two minimax polynomials by N. Juffa: of erf(x) / x - 1, and of log(erfc(|x|)) beyond 0.9277.
KernelValue erf_f32(KernelValue x) {
    const KernelValue a = min(abs(x), 4.0), z = a * a;
    KernelValue q = -1.72853470e-5 * a + 3.83197126e-4;
    q = q * z + (-3.88396438e-3 * a + 2.42546219e-2);
    q = q * a - 1.06777877e-1;
    q = q * a - 6.34846687e-1;
    q = q * a - 1.28717512e-1;
    q = q * a - a;
    const KernelValue large = with_sign_of(1.0 - exp_scaled(q, std::nullopt, 0), x);
    KernelValue p = x.same(-5.96761703e-4);
    p = p * z + 4.99119423e-3;
    p = p * z - 2.67681349e-2;
    p = p * z + 1.12819925e-1;
    p = p * z - 3.76125336e-1;
    p = p * z + 1.28379166e-1;
    // Near the smallest numbers p * x is subnormal, which a device may flush.
    const KernelValue small = select(a < 1e-30, 1.12837917 * x, p * x + x);
    return select(x != x, x, select(a > 0.927734375, large, small));
}

namespace {

/// Returns the leading 12 bits of x; the rest, x - high_bits(x), has 12 too.
KernelValue high_bits(KernelValue x) { return float_of(bits_of(x) & 0xfffff000u); }

struct Pair {
    KernelValue high, low;
};

/// Returns log(x) for finite x > 0 as a sum, to about 2^-30 of itself: log(1 + f) = 2 atanh(q),
/// q = f / (2 + f) with its rounding error.
Pair log_pair(KernelValue x) {
    const auto [f, e] = split(x);
    const KernelValue m = f + 1.0, d = m + 1.0, d_lost = m - (d - 1.0), q = f / d;
    const KernelValue q_high = high_bits(q), d_high = high_bits(d);
    const KernelValue d_low = (d - d_high) + d_lost;
    const KernelValue q_low = ((f - q_high * d_high) - q_high * d_low) / d;
    const KernelValue z = q * q;
    KernelValue p = x.same(2.4007078e-1);
    p = p * z + 2.8518319e-1;
    p = p * z + 4.0000796e-1;
    p = p * z + 6.6666663e-1;
    const KernelValue tail = 2.0 * q_low + p * z * q;
    const KernelValue base = e * kLogOfTwo, leading = 2.0 * q_high;
    const KernelValue sum = base + leading, lost = leading - (sum - base);
    const KernelValue rest = e * kLogOfTwoRest + lost + tail;
    const KernelValue high = sum + rest;
    return {high, rest - (high - sum)};
}

/// Returns the power with C's edges, where `value` is that of |x|.
KernelValue pow_edges(KernelValue x, KernelValue y, KernelValue value) {
    const KernelValue a = abs(x), zero = a == 0.0, infinite = a == infinity_like(x);
    const KernelValue edge = select(zero == (y > 0.0), x.same(0.0), infinity_like(x));
    value = select(zero | infinite, edge, value);
    const KernelValue half_y = 0.5 * y;
    const KernelValue whole = floor(y) == y;
    const KernelValue odd = whole & (floor(half_y) != half_y) & (abs(y) < 1.67772160e7);
    const KernelValue negative = (bits_of(x) & 0x80000000u) != 0u;
    value = float_of(bits_of(value) ^ select(negative & odd, bits_of(x).same(0x80000000u), 0u));
    const KernelValue undefined = negative & !whole & !zero & !infinite;
    value = select(undefined | (x != x) | (y != y), nan_like(x), value);
    return select((y == 0.0) | (x == 1.0), 1.0, value);
}

}  // namespace

// exp(y log|x|) with the logarithm and the product in two parts.
KernelValue pow_f32(KernelValue x, KernelValue y) {
    const auto [log_high, log_low] = log_pair(abs(x));
    const KernelValue bounded = clamp(y, -1.0e25, 1.0e25);
    const KernelValue l_high = high_bits(log_high), l_low = (log_high - l_high) + log_low;
    const KernelValue y_high = high_bits(bounded), y_low = bounded - y_high;
    const KernelValue product = y_high * l_high;
    const KernelValue rest = y_high * l_low + y_low * l_high + y_low * l_low;
    const KernelValue kept = select(abs(product) > 120.0, 0.0, rest);
    return pow_edges(x, y, exp_scaled(product, kept, 0));
}

}  // namespace firn::definition
