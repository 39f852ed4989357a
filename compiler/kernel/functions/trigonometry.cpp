// Sines, tangents and their inverses of f32. Arguments below 2^-126 may be taken as 0.
#include <utility>

#include "compiler/kernel/functions/definitions.h"

namespace firn::definition {
namespace {

/// x = n pi/2 + r with |r| <= pi/4: r, and the bits of n, of which the lowest two count.
using QuarterTurns = std::pair<KernelValue, KernelValue>;

/// Cody and Waite's reduction, for |x| <= 1e5: pi/2 is split into parts of 8 bits, whose multiples
/// are exact for |n| < 2^16. r of infinity and nan is nan.
QuarterTurns few_quarter_turns(KernelValue x) {
    const KernelValue turns = floor(x * 0.636619747 + 0.5);
    KernelValue r = x - turns * 1.5703125;
    r = r - turns * 0.0004825592041015625;
    r = r - turns * 1.2665987014770508e-06;
    r = r - turns * 9.89530235528946e-10;
    r = r - turns * 2.5579538487363607e-12;
    r = r - turns * 5.390302953474238e-15;
    return {r, bits_of(turns + 12582912.0)};
}

/// Returns the word `k` (0 to 4) of five.
KernelValue word_at(KernelValue k, const uint32_t (&words)[5]) {
    KernelValue word = select(k == 0u, k.same(words[0]), k.same(words[1]));
    for (uint32_t at = 2; at < 5; ++at) word = select(k == at, k.same(words[at]), word);
    return word;
}

/// Returns the 32 bits above the lowest 32 of a product of m < 2^24.
KernelValue product_above(KernelValue m, KernelValue by) {
    const KernelValue m_low = m & 0xffffu, m_high = m >> 16;
    const KernelValue low = by & 0xffffu, high = by >> 16;
    const KernelValue first = m_high * low + ((m_low * low) >> 16);
    const KernelValue second = m_low * high + (first & 0xffffu);
    return m_high * high + (first >> 16) + (second >> 16);
}

/// Payne and Hanek's reduction, for any finite |x| >= 1: it multiplies m 2^s by the 64 bits of 2/pi
/// that do more than add whole turns. The 24 bits of m leave 40 of the fraction, so r is off by
/// 4e-12 at most.
QuarterTurns many_quarter_turns(KernelValue x) {
    const KernelValue bits = bits_of(x), sign = bits & 0x80000000u;
    const KernelValue offset = ((bits >> 23) & 255u) - 120u;
    const KernelValue m = (bits & 0x007fffffu) | 0x00800000u;
    const KernelValue word = offset >> 5, shift = offset & 31u;
    const KernelValue t0 = word_at(word, {0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u});
    const KernelValue t1 =
        word_at(word, {0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u});
    const KernelValue t2 =
        word_at(word, {0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u});
    // Shifted right twice: a shift by 32 would count as one by 0.
    const KernelValue high = (t0 << shift) | ((t1 >> 1) >> (31u - shift));
    const KernelValue low = (t1 << shift) | ((t2 >> 1) >> (31u - shift));
    // The leading two bits are quarters, the rest is their fraction: rounded to the nearest
    // quarter.
    const KernelValue turns = m * high + product_above(m, low);
    const KernelValue quarters = (turns + 0x20000000u) >> 30;
    const KernelValue rest = bitcast(turns - (quarters << 30), i32);
    const KernelValue r = cast(rest, f32) * 1.46291807e-9 + cast(m * low, f32) * 3.40612168e-19;
    return {float_of(bits_of(r) ^ sign), select(sign != 0u, 0u - quarters, quarters)};
}

/// For any x; r of infinity and nan is nan.
QuarterTurns quarter_turns(KernelValue x) {
    const auto [r, n] = branch(abs(x) > 1.0e5, many_quarter_turns(x), few_quarter_turns(x));
    return {select(is_finite(x), r, nan_like(x)), n};
}

/// Returns the sine of |r| <= pi/4, after Cephes sinf.
KernelValue sin_part(KernelValue r) {
    const KernelValue z = r * r;
    KernelValue p = r.same(-1.9515295891e-4);
    p = p * z + 8.3321608736e-3;
    p = p * z - 1.6666654611e-1;
    return p * z * r + r;
}

KernelValue cos_part(KernelValue r) {
    const KernelValue z = r * r;
    KernelValue p = r.same(2.443315711809948e-5);
    p = p * z - 1.388731625493765e-3;
    p = p * z + 4.166664568298827e-2;
    return p * z * z - 0.5 * z + 1.0;
}

/// Returns sin(r + n pi/2).
KernelValue turned(KernelValue r, KernelValue n) {
    const KernelValue value = select((n & 1u) != 0u, cos_part(r), sin_part(r));
    return float_of(bits_of(value) ^ ((n & 2u) << 30));
}

KernelValue sine(KernelValue x, const QuarterTurns& turns) {
    return select(x == 0.0, x, turned(turns.first, turns.second));
}

KernelValue cosine(const QuarterTurns& turns) { return turned(turns.first, turns.second + 1u); }

/// Returns tan(r + n pi/2), after Cephes tanf.
KernelValue tangent(KernelValue x, const QuarterTurns& turns) {
    const auto& [r, n] = turns;
    const KernelValue z = r * r;
    KernelValue p = r.same(9.38540185543e-3);
    p = p * z + 3.11992232697e-3;
    p = p * z + 2.44301354525e-2;
    p = p * z + 5.34112807005e-2;
    p = p * z + 1.33387994085e-1;
    p = p * z + 3.33331568548e-1;
    const KernelValue t = p * z * r + r;
    const KernelValue odd = (n & 1u) != 0u;
    return select(x == 0.0, x, select(odd, -1.0, t) / select(odd, t, 1.0));
}

}  // namespace

KernelValue sin_f32(KernelValue x) { return sine(x, quarter_turns(x)); }
KernelValue cos_f32(KernelValue x) { return cosine(quarter_turns(x)); }
KernelValue tan_f32(KernelValue x) { return tangent(x, quarter_turns(x)); }
KernelValue sin_of_few_f32(KernelValue x) { return sine(x, few_quarter_turns(x)); }
KernelValue cos_of_few_f32(KernelValue x) { return cosine(few_quarter_turns(x)); }
KernelValue tan_of_few_f32(KernelValue x) { return tangent(x, few_quarter_turns(x)); }

namespace {

// Halves of pi and their kin are sums of two floats.
constexpr double kPi = 3.14159274, kPiRest = -8.74227766e-8;
constexpr double kHalfPi = 1.57079637, kHalfPiRest = -4.37113883e-8;
constexpr double kQuarterPi = 0.785398185, kQuarterPiRest = -2.18556941e-8;
constexpr double kTanOfEighth = 0.414213562;  // of pi/8

/// Returns asin(s) - s for z = s * s <= 1/4, by the polynomial of Cephes asinf.
KernelValue asin_tail(KernelValue z, KernelValue s) {
    KernelValue p = z.same(4.2163199048e-2);
    p = p * z + 2.4181311049e-2;
    p = p * z + 4.5470025998e-2;
    p = p * z + 7.4953002686e-2;
    p = p * z + 1.6666752422e-1;
    return p * z * s;
}

/// Returns atan(q) for |q| <= tan(pi/8), after Cephes atanf.
KernelValue atan_part(KernelValue q) {
    const KernelValue z = q * q;
    KernelValue p = q.same(8.05374449538e-2);
    p = p * z - 1.38776856032e-1;
    p = p * z + 1.99777106478e-1;
    p = p * z - 3.33329491539e-1;
    return p * z * q + q;
}

}  // namespace

// Beyond 1/2: asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
KernelValue asin_f32(KernelValue x) {
    const KernelValue a = abs(x), large = a > 0.5;
    const KernelValue z = select(large, 0.5 - 0.5 * a, a * a);
    const KernelValue s = select(large, sqrt(z), a);
    const KernelValue angle = asin_tail(z, s) + s;
    const KernelValue mirrored = kHalfPi - (2.0 * angle - kHalfPiRest);
    return with_sign_of(select(large, mirrored, angle), x);
}

KernelValue acos_f32(KernelValue x) {
    const KernelValue a = abs(x), large = a > 0.5;
    const KernelValue z = select(large, 0.5 - 0.5 * a, a * a);
    const KernelValue s = select(large, sqrt(z), x);
    const KernelValue tail = asin_tail(z, s);
    const KernelValue near_zero = kHalfPi - (s + (tail - kHalfPiRest));
    const KernelValue near_one = 2.0 * (s + tail);
    const KernelValue near_minus_one = kPi - (near_one - kPiRest);
    return select(large, select(x < 0.0, near_minus_one, near_one), near_zero);
}

// One division serves the three ranges: around 0, around 1 and around infinity.
KernelValue atan_f32(KernelValue x) {
    const KernelValue a = abs(x), beyond = a > 2.41421356, middle = a > kTanOfEighth;
    const KernelValue above = select(beyond, -1.0, select(middle, a - 1.0, a));
    const KernelValue below = select(beyond, a, select(middle, a + 1.0, 1.0));
    const auto choice = [&](double far, double near) {
        return select(beyond, far, select(middle, a.same(near), 0.0));
    };
    const KernelValue offset = choice(kHalfPi, kQuarterPi);
    const KernelValue low = choice(kHalfPiRest, kQuarterPiRest);
    return with_sign_of(offset + (atan_part(above / below) + low), x);
}

// The angle in the first eighth by one division, then turned to where it belongs.
KernelValue atan2_f32(KernelValue y, KernelValue x) {
    const KernelValue ax = abs(x), ay = abs(y), steep = ay > ax;
    KernelValue least = select(steep, ax, ay), most = select(steep, ay, ax);
    // Both infinite is the diagonal; sums must not overflow, nor divisors be subnormal.
    const KernelValue infinite = least == infinity_like(x);
    least = select(infinite, 1.0, least);
    most = select(infinite, 1.0, most);
    const KernelValue scale =
        select(most < 1.0e-18, 1.67772160e7, select(most > 1.0e37, x.same(0.0625), 1.0));
    least = least * scale;
    most = most * scale;
    const KernelValue middle = least > kTanOfEighth * most;
    const KernelValue above = select(middle, least - most, least);
    const KernelValue below = select(middle, most + least, most);
    const KernelValue quotient = select(most == 0.0, 0.0, above / below);
    const KernelValue offset = select(middle, x.same(kQuarterPi), 0.0);
    const KernelValue low = select(middle, x.same(kQuarterPiRest), 0.0);
    KernelValue part = atan_part(quotient) + low;
    // The offsets join before the small part does, so that it is rounded once.
    KernelValue turn = select(steep, kHalfPi - offset, offset);
    KernelValue turn_low = select(steep, x.same(kHalfPiRest), 0.0);
    part = select(steep, -part, part);
    const KernelValue left = (bits_of(x) & 0x80000000u) != 0u;
    turn = select(left, kPi - turn, turn);
    turn_low = select(left, kPiRest - turn_low, turn_low);
    part = select(left, -part, part);
    const KernelValue angle = with_sign_of(turn + (part + turn_low), y);
    return select((x != x) | (y != y), nan_like(x), angle);
}

}  // namespace firn::definition
