// Sines, tangents and their inverses of f64: as of f32, with more terms.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>
#include <vector>

#include "compiler/kernel/functions/definitions.h"

namespace firn::definition {
namespace {

/// x = n pi/2 + r with |r| <= pi/4: r, and the bits of n, of which the lowest two count.
using WideTurns = std::pair<KernelValue, KernelValue>;

/// Returns the polynomial of z, its coefficient of the highest power first.
KernelValue series(KernelValue z, std::initializer_list<double> coefficients) {
    KernelValue p = z.same(*coefficients.begin());
    for (const double* next = coefficients.begin() + 1; next != coefficients.end(); ++next)
        p = p * z + *next;
    return p;
}

/// Cody and Waite's reduction, for |x| <= 1e6: pi/2 is split into parts of 33 bits, whose multiples
/// are exact for |n| < 2^20. r of infinity and nan is nan.
WideTurns few_wide_turns(KernelValue x) {
    const KernelValue turns = clamp(floor(x * 0.6366197723675814 + 0.5), -1048576.0, 1048576.0);
    const KernelValue first = x - turns * 1.57079632673412561417e+0;
    const KernelValue part = turns * 6.07710050630396597660e-11;
    const KernelValue second = first - part;
    const KernelValue lost = (first - second) - part;
    const KernelValue last = turns * 2.02226624871116645580e-21;
    const KernelValue r = second - last;
    const KernelValue r_lost = (second - r) - last;
    const KernelValue sum = r + (r_lost + (lost - turns * 8.47842766036889956997e-32));
    return {sum, bits_of(turns + 6755399441055744.0)};
}

/// The bits of 2/pi behind two words of zeros.
constexpr std::array<uint32_t, 39> kTwoByPi = {
    0u,          0u,          0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u,
    0x3c439041u, 0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu,
    0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u,
    0x835339f4u, 0x9c845f8bu, 0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu,
    0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u,
    0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u};

/// Returns the six words of kTwoByPi from the `word`-th (0 to 33) on, as u64: the words move down
/// by 32, 16, ... and 1, as the bits of the index say.
std::vector<KernelValue> words_from(KernelValue word) {
    std::vector<KernelValue> words;
    for (uint32_t bits : kTwoByPi) words.push_back(word.same(bits));
    for (uint64_t step = 32; step > 0; step /= 2) {
        const KernelValue moved = (word & step) != uint64_t{0};
        const size_t kept = std::min(words.size(), static_cast<size_t>(6 + step - 1));
        std::vector<KernelValue> next;
        for (size_t k = 0; k < kept; ++k)
            next.push_back(k + step < words.size() ? select(moved, words[k + step], words[k])
                                                   : words[k]);
        words = std::move(next);
    }
    return words;
}

/// Payne and Hanek's reduction, for any finite |x| >= 2^16: it multiplies the 53 bits of x by the
/// 128 bits of 2/pi that do more than add whole turns, in four words, the highest first.
WideTurns many_wide_turns(KernelValue x) {
    constexpr uint64_t kWord = 0xffffffff;
    const KernelValue bits = bits_of(x), negative = (bits >> 63) != uint64_t{0};
    // Counts from the bit that is two quarters of the lowest bit of x.
    const KernelValue first = ((bits >> 52) & 2047) - 1013;
    const KernelValue m0 = bits & kWord;
    const KernelValue m1 = ((bits >> 32) & 0x000fffff) | 0x00100000;
    const KernelValue shift = first & 31;
    const std::vector<KernelValue> words = words_from((first >> 5) & 63);
    std::vector<KernelValue> t;
    for (size_t k = 0; k < 5; ++k)
        t.push_back(((((words[k] << 32) | words[k + 1]) << shift) >> 32) & kWord);
    const auto low = [&](KernelValue product) { return product & kWord; };
    const auto high = [&](KernelValue product) { return product >> 32; };
    const KernelValue a1 = m0 * t[1], a2 = m0 * t[2], a3 = m0 * t[3], a4 = m0 * t[4];
    const KernelValue b2 = m1 * t[2], b3 = m1 * t[3], b4 = m1 * t[4];
    KernelValue s3 = low(a3) + high(a4) + low(b4);
    KernelValue s2 = low(a2) + low(b3) + (high(a3) + high(b4)) + (s3 >> 32);
    KernelValue s1 = low(a1) + low(b2) + (high(a2) + high(b3)) + (s2 >> 32);
    const KernelValue s0 = low(m0 * t[0] + m1 * t[1] + high(a1) + high(b2)) + (s1 >> 32);
    // The leading two bits are quarters, the rest is their fraction: rounded to the nearest
    // quarter.
    const KernelValue quarters = (s0 + 0x20000000) >> 30;
    const KernelValue fraction = cast(bitcast(s0 - (quarters << 30), i64), f64);
    const KernelValue part =
        fraction * 9.313225746154785e-10 + cast(low(s1), f64) * 2.168404344971009e-19 +
        (cast(low(s2), f64) * 5.048709793414476e-29 + cast(low(s3), f64) * 1.1754943508222875e-38);
    const KernelValue r = part * 1.5707963267948966;
    return {select(negative, -r, r), select(negative, uint64_t{0} - quarters, quarters)};
}

/// For any x; r of infinity and nan is nan.
WideTurns wide_turns(KernelValue x) {
    const auto [r, n] = branch(abs(x) > 1.0e6, many_wide_turns(x), few_wide_turns(x));
    return {select(abs(x) < infinity_like(x), r, nan_like(x)), n};
}

/// Returns the sine of |r| <= pi/4.
KernelValue wide_sin_part(KernelValue r) {
    const KernelValue z = r * r;
    const KernelValue p =
        series(z, {1.58969099521155e-10, -2.5050760253406863e-08, 2.7557313707070068e-06,
                   -0.0001984126982985795, 0.00833333333332249, -0.16666666666666632});
    return p * z * r + r;
}

KernelValue wide_cos_part(KernelValue r) {
    const KernelValue z = r * r;
    const KernelValue p =
        series(z, {-1.1359647557788195e-11, 2.087572321298175e-09, -2.7557314351390663e-07,
                   2.480158728947673e-05, -0.001388888888887411, 0.0416666666666666});
    const KernelValue whole = 1.0 - 0.5 * z;
    const KernelValue lost = (1.0 - whole) - 0.5 * z;
    return whole + (lost + p * z * z);
}

/// Returns sin(r + n pi/2).
KernelValue wide_turned(KernelValue r, KernelValue n) {
    const KernelValue value = select((n & 1) != 0, wide_cos_part(r), wide_sin_part(r));
    return select((n & 2) != 0, -value, value);
}

}  // namespace

KernelValue sin_f64(KernelValue x) {
    const auto [r, n] = wide_turns(x);
    return select(x == 0.0, x, wide_turned(r, n));
}

KernelValue cos_f64(KernelValue x) {
    const auto [r, n] = wide_turns(x);
    return wide_turned(r, n + 1);
}

KernelValue tan_f64(KernelValue x) {
    const auto [r, n] = wide_turns(x);
    const KernelValue s = wide_sin_part(r), c = wide_cos_part(r), odd = (n & 1) != 0;
    return select(x == 0.0, x, select(odd, -c, s) / select(odd, s, c));
}

namespace {

// Halves of pi and their kin are sums of two floats.
constexpr double kWidePi = 3.141592653589793, kWidePiRest = 1.2246467991473532e-16;
constexpr double kWideHalfPi = 1.5707963267948966, kWideHalfPiRest = 6.123233995736766e-17;
constexpr double kWideQuarterPi = 0.7853981633974483, kWideQuarterPiRest = 3.061616997868383e-17;
constexpr double kWideTanOfEighth = 0.41421356237309503;  // of pi/8

/// Returns asin(s) - s for z = s * s <= 1/4.
KernelValue wide_asin_tail(KernelValue z, KernelValue s) {
    const KernelValue p =
        series(z, {3.479331075960212e-05, 0.0007915349942898145, -0.04005553450067941,
                   0.20121253213486293, -0.3255658186224009, 0.16666666666666666});
    const KernelValue q = series(
        z, {0.07703815055590194, -0.6882839716054533, 2.0209457602335057, -2.403394911734414, 1.0});
    return s * (z * p / q);
}

/// Returns atan(q) - q for |q| <= tan(pi/8).
KernelValue wide_atan_part(KernelValue q) {
    const KernelValue z = q * q;
    const KernelValue p = series(
        z, {0.016285820115365782, -0.036531572744216916, 0.049768779946159324,
            -0.058335701337905735, 0.06661073137387531, -0.0769187620504483, 0.09090887133436507,
            -0.11111110405462356, 0.14285714272503466, -0.19999999999876483, 0.3333333333333293});
    return -(p * z * q);
}

}  // namespace

// Beyond 1/2: asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
KernelValue asin_f64(KernelValue x) {
    const KernelValue a = abs(x), large = a > 0.5;
    const KernelValue z = select(large, 0.5 - 0.5 * a, a * a);
    const KernelValue s = select(large, sqrt(z), a);
    const KernelValue angle = wide_asin_tail(z, s) + s;
    const KernelValue mirrored = kWideHalfPi - (2.0 * angle - kWideHalfPiRest);
    const KernelValue value = with_sign_of(select(large, mirrored, angle), x);
    return select(a <= 1.0, value, nan_like(x));
}

KernelValue acos_f64(KernelValue x) {
    const KernelValue a = abs(x), large = a > 0.5;
    const KernelValue z = select(large, 0.5 - 0.5 * a, a * a);
    const KernelValue s = select(large, sqrt(z), x);
    const KernelValue tail = wide_asin_tail(z, s);
    const KernelValue near_zero = kWideHalfPi - (s + (tail - kWideHalfPiRest));
    const KernelValue near_one = 2.0 * (s + tail);
    const KernelValue near_minus_one = kWidePi - (near_one - kWidePiRest);
    const KernelValue value = select(large, select(x < 0.0, near_minus_one, near_one), near_zero);
    return select(a <= 1.0, value, nan_like(x));
}

// One division serves the three ranges: around 0, around 1 and around infinity.
KernelValue atan_f64(KernelValue x) {
    const KernelValue a = min(abs(x), 1.0e300);
    const KernelValue beyond = a > 2.414213562373095, middle = a > kWideTanOfEighth;
    const KernelValue above = select(beyond, -1.0, select(middle, a - 1.0, a));
    const KernelValue below = select(beyond, a, select(middle, a + 1.0, 1.0));
    const auto choice = [&](double far, double near) {
        return select(beyond, far, select(middle, a.same(near), 0.0));
    };
    const KernelValue offset = choice(kWideHalfPi, kWideQuarterPi);
    const KernelValue low = choice(kWideHalfPiRest, kWideQuarterPiRest);
    const KernelValue q = above / below;
    const KernelValue value = with_sign_of(offset + (q + (wide_atan_part(q) + low)), x);
    return select(x != x, x, value);
}

// The angle in the first eighth by one division, then turned to where it belongs.
KernelValue atan2_f64(KernelValue y, KernelValue x) {
    const KernelValue ax = abs(x), ay = abs(y), steep = ay > ax;
    KernelValue least = select(steep, ax, ay), most = select(steep, ay, ax);
    // Both infinite is the diagonal; sums must not overflow, nor divisors be subnormal.
    const KernelValue infinite = least == infinity_like(x);
    least = select(infinite, 1.0, least);
    most = select(infinite, 1.0, most);
    const KernelValue scale =
        select(most < 1.0e-150, 2.037035976334486e+90, select(most > 1.0e300, x.same(0.25), 1.0));
    least = least * scale;
    most = most * scale;
    const KernelValue middle = least > kWideTanOfEighth * most;
    const KernelValue above = select(middle, least - most, least);
    const KernelValue below = select(middle, most + least, most);
    const KernelValue quotient = select(most == 0.0, 0.0, above / below);
    const KernelValue offset = select(middle, x.same(kWideQuarterPi), 0.0);
    const KernelValue low = select(middle, x.same(kWideQuarterPiRest), 0.0);
    KernelValue part = quotient + (wide_atan_part(quotient) + low);
    // The offsets join before the small part does, so that it is rounded once.
    KernelValue turn = select(steep, kWideHalfPi - offset, offset);
    KernelValue turn_low = select(steep, x.same(kWideHalfPiRest), 0.0);
    part = select(steep, -part, part);
    const KernelValue left = (bits_of(x) >> 63) != 0;
    turn = select(left, kWidePi - turn, turn);
    turn_low = select(left, kWidePiRest - turn_low, turn_low);
    part = select(left, -part, part);
    const KernelValue angle = with_sign_of(turn + (part + turn_low), y);
    return select((x != x) | (y != y), nan_like(x), angle);
}

}  // namespace firn::definition
