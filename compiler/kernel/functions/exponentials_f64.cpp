// Exponentials, logarithms and their kin of f64: as of f32, with more terms.
//
// The polynomials are Taylor's, those of fdlibm (Sun Microsystems, 1993), or fits that say so.
// Results and arguments below 2^-1022 may be 0.
#include <initializer_list>
#include <optional>
#include <utility>

#include "compiler/kernel/functions/definitions.h"

namespace firn::definition {
namespace {

constexpr double kWideLogOfTwo = 6.93147180369123816490e-1;  // its last bits are 0
constexpr double kWideLogOfTwoRest = 1.90821492927058770002e-10;
constexpr double kWideTurnsPerLog = 1.4426950408889634;  // 1 / ln(2)

/// Returns the polynomial of x, its coefficient of the highest power first.
KernelValue polynomial(KernelValue x, std::initializer_list<double> coefficients) {
    KernelValue p = x.same(*coefficients.begin());
    for (const double* next = coefficients.begin() + 1; next != coefficients.end(); ++next)
        p = p * x + *next;
    return p;
}

/// Returns an integer |n| < 2^51, a float, in the lower 51 bits: 1.5 2^52 leaves no room for less
/// than 1.
KernelValue wide_integer_bits(KernelValue n) { return bits_of(n + 6755399441055744.0); }

/// Returns 2^n for an integer |n| <= 1022.
KernelValue wide_power_of_two(KernelValue n) {
    return float_of((wide_integer_bits(n) + 1023) << 52);
}

/// Returns x 2^n for |n| <= 2044, in two steps so that neither factor leaves the range.
KernelValue wide_scaled(KernelValue x, KernelValue n) {
    const KernelValue half = floor(n * 0.5);
    return x * wide_power_of_two(half) * wide_power_of_two(n - half);
}

/// Returns x - n ln(2), ln(2) in two parts.
KernelValue wide_without_powers(KernelValue x, KernelValue n) {
    return (x - n * kWideLogOfTwo) - n * kWideLogOfTwoRest;
}

/// Returns exp(r) - 1 for |r| <= ln(2) / 2, by Taylor's series.
KernelValue wide_exp_tail(KernelValue r) {
    const KernelValue p =
        polynomial(r, {1.6059043836821613e-10, 2.08767569878681e-09, 2.505210838544172e-08,
                       2.755731922398589e-07, 2.7557319223985893e-06, 2.48015873015873e-05,
                       0.0001984126984126984, 0.001388888888888889, 0.008333333333333333,
                       0.041666666666666664, 0.16666666666666666, 0.5});
    return p * (r * r) + r;
}

/// Returns 2^shift exp(x + low) for a `low` far smaller than x.
KernelValue wide_exp_scaled(KernelValue x, std::optional<KernelValue> low, int shift) {
    const KernelValue bounded = clamp(x, -760.0, 720.0);
    const KernelValue n = round(bounded * kWideTurnsPerLog);
    KernelValue r = wide_without_powers(bounded, n);
    if (low) r = r + *low;
    const KernelValue power = wide_exp_tail(r) + 1.0;
    return select(x != x, x, wide_scaled(power, shift ? n + shift : n));
}

}  // namespace

KernelValue exp_f64(KernelValue x) { return wide_exp_scaled(x, std::nullopt, 0); }

KernelValue exp2_f64(KernelValue x) {
    const KernelValue bounded = clamp(x, -1080.0, 1030.0);
    const KernelValue n = round(bounded);
    const KernelValue power = wide_exp_tail((bounded - n) * 0.6931471805599453) + 1.0;
    return select(x != x, x, wide_scaled(power, n));
}

// 2^n (exp(r) - 1) + (2^n - 1), computed at half its size so that 2^1024 is never needed.
KernelValue expm1_f64(KernelValue x) {
    const KernelValue bounded = clamp(x, -45.0, 711.0);
    const KernelValue n = min(round(bounded * kWideTurnsPerLog), 1024.0);
    const KernelValue r = wide_without_powers(bounded, n);
    const KernelValue half_scale = wide_power_of_two(n - 1.0);
    KernelValue value = (half_scale * wide_exp_tail(r) + (half_scale - 0.5)) * 2.0;
    value = select(x > 710.0, infinity_like(x), value);
    // The sign of zero, and nan.
    return select(abs(x) > 1.0e-18, value, x);
}

namespace {

struct WideSplit {
    KernelValue fraction, exponent;
};

/// Returns f and e of x = (1 + f) 2^e with 1 + f in [sqrt(1/2), sqrt(2)], for finite x > 0.
WideSplit wide_split(KernelValue x) {
    const KernelValue subnormal = bits_of(x) < uint64_t{0x0010000000000000};
    const KernelValue bits = bits_of(select(subnormal, x * 18014398509481984.0, x));
    const KernelValue high = cast(bits >> 32, u32) - 0x3fe6a09eu;
    const KernelValue shift = select(subnormal, x.same(54.0), x.same(0.0));
    const KernelValue exponent = cast(bitcast(high, i32) >> 20, f64) - shift;
    const KernelValue upper = cast((high & 0x000fffffu) + 0x3fe6a09eu, u64);
    const KernelValue lower = bits & uint64_t{0xffffffff};
    return {float_of(lower | (upper << 32)) - 1.0, exponent};
}

/// Returns log(1 + f) - f + f f / 2 for 1 + f in [sqrt(1/2), sqrt(2)].
KernelValue log_rest(KernelValue f) {
    const KernelValue s = f / (2.0 + f), z = s * s;
    const KernelValue p = polynomial(
        z, {0.14798198605116586, 0.15313837699209373, 0.1818357216161805, 0.22222198432149784,
            0.2857142874366239, 0.3999999999940942, 0.6666666666666735});
    return s * (0.5 * f * f + p * z);
}

/// Returns the logarithm of 0, infinity, negative numbers and nan; `value` of all others.
KernelValue wide_log_edges(KernelValue x, KernelValue value) {
    KernelValue result = select(x == infinity_like(x), x, value);
    result = select(x > 0.0, result, nan_like(x));
    return select(x == 0.0, -infinity_like(x), result);
}

/// Returns e ln(2) + log(1 + f), plus a small `correction`.
KernelValue log_sum(KernelValue f, KernelValue e, std::optional<KernelValue> correction) {
    const KernelValue square = 0.5 * f * f;
    KernelValue low = e * kWideLogOfTwoRest;
    if (correction) low = low + *correction;
    return e * kWideLogOfTwo - ((square - (log_rest(f) + low)) - f);
}

/// Returns the leading 26 bits of x; products of two of these are exact.
KernelValue wide_high_bits(KernelValue x) {
    return float_of(bits_of(x) & uint64_t{0xfffffffff8000000});
}

}  // namespace

KernelValue log_f64(KernelValue x) {
    const auto [f, e] = wide_split(x);
    return wide_log_edges(x, log_sum(f, e, std::nullopt));
}

// log(1 + x) of the rounded sum and the part that rounding lost; near 0 without the sum.
KernelValue log1p_f64(KernelValue x) {
    const KernelValue sum = 1.0 + x;
    const KernelValue lost = select(x > 1.0, 1.0 - (sum - x), x - (sum - 1.0));
    const auto [fraction, e] = wide_split(sum);
    const KernelValue whole = e == 0.0;
    const KernelValue correction = select(whole, 0.0, lost / sum);
    const KernelValue value =
        wide_log_edges(sum, log_sum(select(whole, x, fraction), e, correction));
    return select(abs(x) < 1.0e-17, x, value);
}

// log(1 + f) in two parts by 1 / ln(2) in two parts.
KernelValue log2_f64(KernelValue x) {
    const auto [f, e] = wide_split(x);
    const KernelValue square = 0.5 * f * f;
    const KernelValue high = wide_high_bits(f - square);
    const KernelValue low = ((f - high) - square) + log_rest(f);
    const KernelValue large = high * 1.44269504072144627571e+0;
    const KernelValue sum = e + large;
    const KernelValue small = (low + high) * 1.67517131648865118353e-10 +
                              low * 1.44269504072144627571e+0 + ((e - sum) + large);
    return wide_log_edges(x, small + sum);
}

// Below 1 Taylor's series.
KernelValue sinh_f64(KernelValue x) {
    const KernelValue a = abs(x), z = x * x;
    const KernelValue p =
        polynomial(z, {8.22063524662433e-18, 2.8114572543455206e-15, 7.647163731819816e-13,
                       1.6059043836821613e-10, 2.505210838544172e-08, 2.7557319223985893e-06,
                       0.0001984126984126984, 0.008333333333333333, 0.16666666666666666});
    const KernelValue small = p * z * x + x;
    const KernelValue half_exp = wide_exp_scaled(a, std::nullopt, -1);
    const KernelValue large = with_sign_of(half_exp - 0.25 / half_exp, x);
    return select(a > 1.0, large, small);
}

KernelValue cosh_f64(KernelValue x) {
    const KernelValue half_exp = wide_exp_scaled(abs(x), std::nullopt, -1);
    return half_exp + 0.25 / half_exp;
}

// t / (t + 2) for t = exp(2 |x|) - 1, of which no digit is lost near 0. Beyond 19.1 it is 1.
KernelValue tanh_f64(KernelValue x) {
    const KernelValue t = expm1_f64(2.0 * min(abs(x), 20.0));
    return select(x != x, x, with_sign_of(t / (t + 2.0), x));
}

namespace {

/// Returns log(erfc(a)) + a a for a in [1, 6]: a polynomial of 2 / (2 + a) around the middle of one
/// of two ranges (Chebyshev interpolation).
KernelValue log_of_erfc(KernelValue a) {
    constexpr std::pair<double, double> kFarAndNear[] = {
        {2.395851491393871e-09, 1.5670474538610498e-13},
        {-8.21723235298427e-09, -1.006844167608778e-12},
        {1.8733885529009518e-08, 5.8575442405549785e-12},
        {-6.525116445247448e-08, -3.794509787125046e-11},
        {2.44454361744805e-07, 2.5022271737125223e-10},
        {-8.630270425630225e-07, -1.670109720382869e-09},
        {3.0656256223991303e-06, 1.1156097663800075e-08},
        {-1.1081923087145095e-05, -7.344034011630685e-08},
        {4.062146265218295e-05, 4.914809636775239e-07},
        {-0.00015154698872523988, -3.596976198168961e-06},
        {0.0005880471075835521, 2.8061142318442585e-05},
        {-0.0024014436560983563, -0.00019720498897800456},
        {0.009718526477400657, 0.0011930598887231164},
        {-0.0444241086923133, -0.012934634896181938},
        {0.4556052137586412, 0.2968004677047245},
        {-1.864616315451696, -1.134492089551553}};
    const KernelValue far = a > 2.2, t = 2.0 / (2.0 + a);
    const KernelValue u =
        select(far, (t - 0.3630952380952381) * 8.842105263157896, (t - 0.5714285714285714) * 10.5);
    std::optional<KernelValue> p;
    for (const auto& [of_far, of_near] : kFarAndNear) {
        const KernelValue next = select(far, a.same(of_far), a.same(of_near));
        p = p ? *p * u + next : next;
    }
    return *p;
}

}  // namespace

// Below 1 Taylor's series.
KernelValue erf_f64(KernelValue x) {
    const KernelValue a = min(abs(x), 6.0), z = a * a;
    const KernelValue q = polynomial(
        z, {4.763348040515068e-18, -9.063970842808673e-17, 1.6342614095367152e-15,
            -2.7835162072109215e-14, 4.4632242632864775e-13, -6.7113668551641105e-12,
            9.422759064650411e-11, -1.2290555301717928e-09, 1.4807192815879218e-08,
            -1.6365844691234924e-07, 1.6462114365889248e-06, -1.492565035840625e-05,
            0.00012055332981789664, -0.0008548327023450853, 0.005223977625442188,
            -0.026866170645131252, 0.11283791670955126, -0.37612638903183754, 0.1283791670955126});
    const KernelValue small = q * x + x;
    const KernelValue beyond = wide_exp_scaled(log_of_erfc(a) - z, std::nullopt, 0);
    const KernelValue large = with_sign_of(1.0 - beyond, x);
    return select(x != x, x, select(a > 1.0, large, small));
}

namespace {

struct WidePair {
    KernelValue high, low;
};

/// Returns log(x) for finite x > 0 as a sum, to about 2^-66 (of itself near 1): 2 atanh(q),
/// q = f / (2 + f) with its rounding error, and so is the cube of q.
WidePair wide_log_pair(KernelValue x) {
    const auto [f, e] = wide_split(x);
    const KernelValue m = f + 1.0, d = m + 1.0, d_lost = m - (d - 1.0), q = f / d;
    const KernelValue q_high = wide_high_bits(q), d_high = wide_high_bits(d);
    const KernelValue d_low = (d - d_high) + d_lost;
    const KernelValue q_low = ((f - q_high * d_high) - q_high * d_low) / d;
    const KernelValue square = q_high * q_high;
    const KernelValue square_low = 2.0 * q_high * q_low + q_low * q_low;
    const KernelValue square_high = wide_high_bits(square);
    const KernelValue cube = q_high * square_high;
    const KernelValue cube_low =
        q_high * ((square - square_high) + square_low) + q_low * (square + square_low);
    const KernelValue cube_high = wide_high_bits(cube);
    const KernelValue third = cube_high * 0.66666665673255920;
    const KernelValue third_low =
        cube_high * 9.934107462565104e-9 + ((cube - cube_high) + cube_low) * 0.66666666666666663;
    const KernelValue z = q * q;
    const KernelValue p =
        polynomial(z, {0.08, 0.08695652173913043, 0.09523809523809523, 0.10526315789473684,
                       0.11764705882352941, 0.13333333333333333, 0.15384615384615385,
                       0.18181818181818182, 0.2222222222222222, 0.2857142857142857, 0.4});
    const KernelValue base = e * kWideLogOfTwo, leading = 2.0 * q_high;
    const KernelValue sum = base + leading, lost = leading - (sum - base);
    const KernelValue both = sum + third, both_lost = third - (both - sum);
    const KernelValue rest =
        (e * kWideLogOfTwoRest + (2.0 * q_low + p * z * z * q)) + (lost + (both_lost + third_low));
    const KernelValue high = both + rest;
    return {high, rest - (high - both)};
}

/// Returns the power with C's edges, where `value` is that of |x|.
KernelValue wide_pow_edges(KernelValue x, KernelValue y, KernelValue value) {
    const KernelValue a = abs(x), zero = a == 0.0, infinite = a == infinity_like(x);
    const KernelValue edge = select(zero == (y > 0.0), x.same(0.0), infinity_like(x));
    value = select(zero | infinite, edge, value);
    const KernelValue half_y = 0.5 * y;
    const KernelValue whole = floor(y) == y;
    const KernelValue odd = whole & (floor(half_y) != half_y) & (abs(y) < 9007199254740992.0);
    const KernelValue negative = (bits_of(x) >> 63) != uint64_t{0};
    value = select(negative & odd, -value, value);
    const KernelValue undefined = negative & !whole & !zero & !infinite;
    value = select(undefined | (x != x) | (y != y), nan_like(x), value);
    return select((y == 0.0) | (x == 1.0), 1.0, value);
}

}  // namespace

// exp(y log|x|) with the logarithm and the product in two parts.
KernelValue pow_f64(KernelValue x, KernelValue y) {
    const auto [log_high, log_low] = wide_log_pair(abs(x));
    const KernelValue bounded = clamp(y, -1.0e30, 1.0e30);
    const KernelValue l_high = wide_high_bits(log_high), l_low = (log_high - l_high) + log_low;
    const KernelValue y_high = wide_high_bits(bounded), y_low = bounded - y_high;
    const KernelValue product = y_high * l_high;
    const KernelValue rest = y_high * l_low + y_low * l_high + y_low * l_low;
    const KernelValue kept = select(abs(product) > 800.0, 0.0, rest);
    return wide_pow_edges(x, y, wide_exp_scaled(product, kept, 0));
}

}  // namespace firn::definition
