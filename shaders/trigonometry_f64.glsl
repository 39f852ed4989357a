// Sines, tangents and their inverses of f64: as in math_f64.glsl, which says what holds for these too.

//@function firn_few_quarter_turns_f64
// x = n pi/2 + r with |r| <= pi/4 (Cody and Waite), pi/2 in parts of 33 bits, whose multiples are exact for
// |n| < 2^20.
double firn_few_quarter_turns_f64(double x, out int n) {
    double turns = clamp(floor(x * 0.6366197723675814lf + 0.5lf), -1048576.0lf, 1048576.0lf);
    n = int(turns);
    precise double first = x - turns * 1.57079632673412561417e+0lf;
    precise double part = turns * 6.07710050630396597660e-11lf;
    precise double second = first - part;
    precise double lost = (first - second) - part;
    precise double last = turns * 2.02226624871116645580e-21lf;
    precise double r = second - last;
    precise double r_lost = (second - r) - last;
    return r + (r_lost + (lost - turns * 8.47842766036889956997e-32lf));
}

//@function firn_many_quarter_turns_f64
// The same for any finite |x| >= 2^16 (Payne and Hanek): the 53 bits of x times those 160 bits of 2/pi that do more
// than add whole turns. Sums of a few words are exact in f64.
double firn_many_quarter_turns_f64(double x, out int n) {
    const uint kTwoByPi[39] = uint[](
        0u, 0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
        0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
        0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu,
        0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du,
        0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u);
    uvec2 bits = unpackDouble2x32(x);
    bool negative = (bits.y & 0x80000000u) != 0u;
    // Of the words, two of zeros before the first: the bit that counts two quarters of the lowest bit of x.
    int first = int((bits.y >> 20) & 2047u) - 1013;
    uint m0 = bits.x;
    uint m1 = (bits.y & 0x000fffffu) | 0x00100000u;
    int word = first >> 5;
    int shift = first & 31;
    uint w0 = kTwoByPi[word];
    uint w1 = kTwoByPi[word + 1];
    uint w2 = kTwoByPi[word + 2];
    uint w3 = kTwoByPi[word + 3];
    uint w4 = kTwoByPi[word + 4];
    uint w5 = kTwoByPi[word + 5];
    // Shifted right twice: a shift by 32 is not defined.
    uint t0 = (w0 << shift) | ((w1 >> 1) >> (31 - shift));
    uint t1 = (w1 << shift) | ((w2 >> 1) >> (31 - shift));
    uint t2 = (w2 << shift) | ((w3 >> 1) >> (31 - shift));
    uint t3 = (w3 << shift) | ((w4 >> 1) >> (31 - shift));
    uint t4 = (w4 << shift) | ((w5 >> 1) >> (31 - shift));
    uint a1, a2, a3, a4, b2, b3, b4, low;
    umulExtended(m0, t1, a1, low);
    double s1 = double(low);
    umulExtended(m0, t2, a2, low);
    double s2 = double(low);
    umulExtended(m0, t3, a3, low);
    double s3 = double(low);
    umulExtended(m0, t4, a4, low);
    s3 += double(a4);
    umulExtended(m1, t2, b2, low);
    s1 += double(low);
    umulExtended(m1, t3, b3, low);
    s2 += double(low);
    umulExtended(m1, t4, b4, low);
    s3 += double(low);
    s2 += double(a3) + double(b4);
    s1 += double(a2) + double(b3);
    double s0 = double(m0 * t0 + m1 * t1 + a1 + b2);
    double carry = floor(s3 * 2.3283064365386963e-10lf);
    s3 -= carry * 4294967296.0lf;
    s2 += carry;
    carry = floor(s2 * 2.3283064365386963e-10lf);
    s2 -= carry * 4294967296.0lf;
    s1 += carry;
    carry = floor(s1 * 2.3283064365386963e-10lf);
    s1 -= carry * 4294967296.0lf;
    s0 += carry;
    // The leading two bits are quarters, the rest is their fraction: rounded to the nearest quarter.
    double quarters = floor(s0 * 9.313225746154785e-10lf + 0.5lf);
    s0 -= quarters * 1073741824.0lf;
    precise double part = s0 * 9.313225746154785e-10lf + s1 * 2.168404344971009e-19lf +
                          (s2 * 5.048709793414476e-29lf + s3 * 1.1754943508222875e-38lf);
    precise double r = part * 1.5707963267948966lf;
    n = negative ? -int(quarters) : int(quarters);
    return negative ? -r : r;
}

//@function firn_quarter_turns_f64 needs firn_few_quarter_turns_f64 firn_many_quarter_turns_f64 firn_infinity_f64 firn_nan_f64
// A branch, because GPUs skip the long way where no invocation needs it.
double firn_quarter_turns_f64(double x, out int n) {
    double r = firn_few_quarter_turns_f64(x, n);
    if (abs(x) > 1.0e6lf) r = firn_many_quarter_turns_f64(x, n);
    return abs(x) < firn_infinity_f64() ? r : firn_nan_f64();
}

//@function firn_sin_part_f64
// For |r| <= pi/4.
double firn_sin_part_f64(double r) {
    double z = r * r;
    double p = 1.58969099521155e-10lf;
    p = p * z - 2.5050760253406863e-08lf;
    p = p * z + 2.7557313707070068e-06lf;
    p = p * z - 0.0001984126982985795lf;
    p = p * z + 0.00833333333332249lf;
    p = p * z - 0.16666666666666632lf;
    return p * z * r + r;
}

//@function firn_cos_part_f64
double firn_cos_part_f64(double r) {
    double z = r * r;
    double p = -1.1359647557788195e-11lf;
    p = p * z + 2.087572321298175e-09lf;
    p = p * z - 2.7557314351390663e-07lf;
    p = p * z + 2.480158728947673e-05lf;
    p = p * z - 0.001388888888887411lf;
    p = p * z + 0.0416666666666666lf;
    precise double whole = 1.0lf - 0.5lf * z;
    precise double lost = (1.0lf - whole) - 0.5lf * z;
    return whole + (lost + p * z * z);
}

//@function firn_turned_f64 needs firn_sin_part_f64 firn_cos_part_f64
// sin(r + n pi/2).
double firn_turned_f64(double r, int n) {
    double s = firn_sin_part_f64(r);
    double c = firn_cos_part_f64(r);
    double value = (n & 1) != 0 ? c : s;
    return (n & 2) != 0 ? -value : value;
}

//@function firn_sin_f64 needs firn_quarter_turns_f64 firn_turned_f64
double firn_sin_f64(double x) {
    int n;
    double r = firn_quarter_turns_f64(x, n);
    double value = firn_turned_f64(r, n);
    return x == 0.0lf ? x : value;
}

//@function firn_cos_f64 needs firn_quarter_turns_f64 firn_turned_f64
double firn_cos_f64(double x) {
    int n;
    double r = firn_quarter_turns_f64(x, n);
    return firn_turned_f64(r, n + 1);
}

//@function firn_tan_f64 needs firn_quarter_turns_f64 firn_sin_part_f64 firn_cos_part_f64
double firn_tan_f64(double x) {
    int n;
    double r = firn_quarter_turns_f64(x, n);
    double s = firn_sin_part_f64(r);
    double c = firn_cos_part_f64(r);
    bool odd = (n & 1) != 0;
    double above = odd ? -c : s;
    double below = odd ? s : c;
    double value = above / below;
    return x == 0.0lf ? x : value;
}

//@function firn_asin_tail_f64
// asin(s) - s for z = s * s <= 1/4.
double firn_asin_tail_f64(double z, double s) {
    double p = 3.479331075960212e-05lf;
    p = p * z + 0.0007915349942898145lf;
    p = p * z - 0.04005553450067941lf;
    p = p * z + 0.20121253213486293lf;
    p = p * z - 0.3255658186224009lf;
    p = p * z + 0.16666666666666666lf;
    double q = 0.07703815055590194lf;
    q = q * z - 0.6882839716054533lf;
    q = q * z + 2.0209457602335057lf;
    q = q * z - 2.403394911734414lf;
    q = q * z + 1.0lf;
    return s * (z * p / q);
}

//@function firn_asin_f64 needs firn_asin_tail_f64 firn_signed_f64 firn_nan_f64
// Beyond 1/2: asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
double firn_asin_f64(double x) {
    double a = abs(x);
    bool large = a > 0.5lf;
    double z = mix(a * a, 0.5lf - 0.5lf * a, large);
    double root = sqrt(z);
    double s = large ? root : a;
    double angle = firn_asin_tail_f64(z, s) + s;
    precise double mirrored = 1.5707963267948966lf - (2.0lf * angle - 6.123233995736766e-17lf);
    double value = firn_signed_f64(large ? mirrored : angle, x);
    return a <= 1.0lf ? value : firn_nan_f64();
}

//@function firn_acos_f64 needs firn_asin_tail_f64 firn_nan_f64
double firn_acos_f64(double x) {
    double a = abs(x);
    bool large = a > 0.5lf;
    double z = mix(a * a, 0.5lf - 0.5lf * a, large);
    double root = sqrt(z);
    double s = large ? root : x;
    double tail = firn_asin_tail_f64(z, s);
    precise double near_zero = 1.5707963267948966lf - (s + (tail - 6.123233995736766e-17lf));
    double near_one = 2.0lf * (s + tail);
    precise double near_minus_one = 3.141592653589793lf - (near_one - 1.2246467991473532e-16lf);
    double near_end = x < 0.0lf ? near_minus_one : near_one;
    double value = large ? near_end : near_zero;
    return a <= 1.0lf ? value : firn_nan_f64();
}

//@function firn_atan_part_f64
// atan(q) - q for |q| <= tan(pi/8).
double firn_atan_part_f64(double q) {
    double z = q * q;
    double p = 0.016285820115365782lf;
    p = p * z - 0.036531572744216916lf;
    p = p * z + 0.049768779946159324lf;
    p = p * z - 0.058335701337905735lf;
    p = p * z + 0.06661073137387531lf;
    p = p * z - 0.0769187620504483lf;
    p = p * z + 0.09090887133436507lf;
    p = p * z - 0.11111110405462356lf;
    p = p * z + 0.14285714272503466lf;
    p = p * z - 0.19999999999876483lf;
    p = p * z + 0.3333333333333293lf;
    return -(p * z * q);
}

//@function firn_atan_f64 needs firn_atan_part_f64 firn_signed_f64
// One division serves the three ranges: around 0, around 1 and around infinity.
double firn_atan_f64(double x) {
    double a = min(abs(x), 1.0e300lf);
    bool beyond = a > 2.414213562373095lf;
    bool middle = a > 0.41421356237309503lf;
    double above = mix(a, a - 1.0lf, middle);
    above = beyond ? -1.0lf : above;
    double below = mix(1.0lf, a + 1.0lf, middle);
    below = beyond ? a : below;
    double offset = middle ? 0.7853981633974483lf : 0.0lf;
    offset = beyond ? 1.5707963267948966lf : offset;
    double low = middle ? 3.061616997868383e-17lf : 0.0lf;
    low = beyond ? 6.123233995736766e-17lf : low;
    double q = above / below;
    precise double angle = offset + (q + (firn_atan_part_f64(q) + low));
    double value = firn_signed_f64(angle, x);
    return x != x ? x : value;
}

//@function firn_atan2_f64 needs firn_atan_part_f64 firn_signed_f64 firn_infinity_f64 firn_nan_f64
// The angle in the first eighth by one division, then turned to where it belongs.
double firn_atan2_f64(double y, double x) {
    double ax = abs(x);
    double ay = abs(y);
    bool steep = ay > ax;
    double least = steep ? ax : ay;
    double most = steep ? ay : ax;
    // Both infinite is the diagonal; sums must not overflow, nor divisors be subnormal.
    bool infinite = least == firn_infinity_f64();
    least = infinite ? 1.0lf : least;
    most = infinite ? 1.0lf : most;
    double scale = most > 1.0e300lf ? 0.25lf : 1.0lf;
    scale = most < 1.0e-150lf ? 2.037035976334486e+90lf : scale;
    least *= scale;
    most *= scale;
    bool middle = least > 0.41421356237309503lf * most;
    double above = mix(least, least - most, middle);
    double below = mix(most, least + most, middle);
    double quotient = above / below;
    quotient = most == 0.0lf ? 0.0lf : quotient;
    double offset = middle ? 0.7853981633974483lf : 0.0lf;
    double low = middle ? 3.061616997868383e-17lf : 0.0lf;
    precise double part = quotient + (firn_atan_part_f64(quotient) + low);
    // The offsets join before the small part does, so that it is rounded once.
    double turn = steep ? 1.5707963267948966lf - offset : offset;
    double turn_low = steep ? 6.123233995736766e-17lf : 0.0lf;
    part = steep ? -part : part;
    bool left = (unpackDouble2x32(x).y & 0x80000000u) != 0u;
    turn = left ? 3.141592653589793lf - turn : turn;
    turn_low = left ? 1.2246467991473532e-16lf - turn_low : turn_low;
    part = left ? -part : part;
    precise double angle = turn + (part + turn_low);
    angle = firn_signed_f64(angle, y);
    return x != x || y != y ? firn_nan_f64() : angle;
}
