// Sines, tangents and their inverses: as in math.glsl, which says what holds for these too.

//@function firn_few_quarter_turns
// x = n pi/2 + r with |r| <= pi/4 (Cody and Waite, pi/2 in parts of 8 bits, whose multiples are exact for
// |n| < 2^16).
float firn_few_quarter_turns(float x, out int n) {
    float turns = floor(x * 0.636619747 + 0.5);
    n = int(clamp(turns, -65536.0, 65536.0));
    precise float r = x - turns * 1.5703125;
    r = r - turns * 0.0004825592041015625;
    r = r - turns * 1.2665987014770508e-06;
    r = r - turns * 9.89530235528946e-10;
    r = r - turns * 2.5579538487363607e-12;
    r = r - turns * 5.390302953474238e-15;
    return r;
}

//@function firn_word_at
// Word `k` (0 to 4) of five.
uint firn_word_at(int k, uint w0, uint w1, uint w2, uint w3, uint w4) {
    uint word = k == 0 ? w0 : w1;
    word = k == 2 ? w2 : word;
    word = k == 3 ? w3 : word;
    return k == 4 ? w4 : word;
}

//@function firn_many_quarter_turns needs firn_word_at
// The same for any finite |x| >= 1 (Payne and Hanek): m 2^s times those 64 bits of 2/pi that do more than
// add whole turns. The 24 bits of m leave 40 of the fraction, so r is off by 4e-12 at most.
float firn_many_quarter_turns(float x, out int n) {
    uint bits = floatBitsToUint(x);
    uint sign = bits & 0x80000000u;
    int offset = int((bits >> 23) & 255u) - 120;
    uint m = (bits & 0x007fffffu) | 0x00800000u;
    int word = offset >> 5;
    int shift = offset & 31;
    uint t0 = firn_word_at(word, 0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u);
    uint t1 = firn_word_at(word, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u);
    uint t2 = firn_word_at(word, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u);
    // Shifted right twice: a shift by 32 is not defined.
    uint high = (t0 << shift) | ((t1 >> 1) >> (31 - shift));
    uint low = (t1 << shift) | ((t2 >> 1) >> (31 - shift));
    uint product_high, product_low;
    umulExtended(m, low, product_high, product_low);
    // The leading two bits are quarters, the rest is their fraction: rounded to the nearest quarter.
    uint turns = m * high + product_high;
    uint quarters = (turns + 0x20000000u) >> 30;
    turns -= quarters << 30;
    float r = float(int(turns)) * 1.46291807e-9 + float(product_low) * 3.40612168e-19;
    n = mix(int(quarters), -int(quarters), sign != 0u);
    return uintBitsToFloat(floatBitsToUint(r) ^ sign);
}

//@function firn_quarter_turns needs firn_few_quarter_turns firn_many_quarter_turns
// A branch, because GPUs skip the long way where no invocation needs it.
float firn_quarter_turns(float x, out int n) {
    float r = firn_few_quarter_turns(x, n);
    if (abs(x) > 1.0e5) r = firn_many_quarter_turns(x, n);
    bool finite = (floatBitsToUint(x) & 0x7fffffffu) < 0x7f800000u;
    return mix(uintBitsToFloat(0x7fc00000u), r, finite);
}

//@function firn_sin_part
// After Cephes sinf, for |r| <= pi/4.
float firn_sin_part(float r) {
    float z = r * r;
    float p = -1.9515295891e-4;
    p = p * z + 8.3321608736e-3;
    p = p * z - 1.6666654611e-1;
    return p * z * r + r;
}

//@function firn_cos_part
float firn_cos_part(float r) {
    float z = r * r;
    float p = 2.443315711809948e-5;
    p = p * z - 1.388731625493765e-3;
    p = p * z + 4.166664568298827e-2;
    return p * z * z - 0.5 * z + 1.0;
}

//@function firn_turned needs firn_sin_part firn_cos_part
// sin(r + n pi/2).
float firn_turned(float r, int n) {
    float s = firn_sin_part(r);
    float c = firn_cos_part(r);
    float value = (n & 1) != 0 ? c : s;
    return uintBitsToFloat(floatBitsToUint(value) ^ (uint(n & 2) << 30));
}

//@function firn_sin needs firn_quarter_turns firn_turned
float firn_sin(float x) {
    int n;
    float r = firn_quarter_turns(x, n);
    return mix(firn_turned(r, n), x, x == 0.0);
}

//@function firn_sin_of_few needs firn_few_quarter_turns firn_turned
// Of |x| <= 1e5, as the next ones; nan of what is none or infinite.
float firn_sin_of_few(float x) {
    int n;
    float r = firn_few_quarter_turns(x, n);
    return mix(firn_turned(r, n), x, x == 0.0);
}

//@function firn_cos needs firn_quarter_turns firn_turned
float firn_cos(float x) {
    int n;
    float r = firn_quarter_turns(x, n);
    return firn_turned(r, n + 1);
}

//@function firn_cos_of_few needs firn_few_quarter_turns firn_turned
float firn_cos_of_few(float x) {
    int n;
    float r = firn_few_quarter_turns(x, n);
    return firn_turned(r, n + 1);
}

//@function firn_tan_part
// tan(r + n pi/2), after Cephes tanf.
float firn_tan_part(float r, int n) {
    float z = r * r;
    float p = 9.38540185543e-3;
    p = p * z + 3.11992232697e-3;
    p = p * z + 2.44301354525e-2;
    p = p * z + 5.34112807005e-2;
    p = p * z + 1.33387994085e-1;
    p = p * z + 3.33331568548e-1;
    float t = p * z * r + r;
    bool odd = (n & 1) != 0;
    float above = odd ? -1.0 : t;
    float below = odd ? t : 1.0;
    return above / below;
}

//@function firn_tan needs firn_quarter_turns firn_tan_part
float firn_tan(float x) {
    int n;
    float r = firn_quarter_turns(x, n);
    float value = firn_tan_part(r, n);
    return x == 0.0 ? x : value;
}

//@function firn_tan_of_few needs firn_few_quarter_turns firn_tan_part
float firn_tan_of_few(float x) {
    int n;
    float r = firn_few_quarter_turns(x, n);
    float value = firn_tan_part(r, n);
    return x == 0.0 ? x : value;
}

//@function firn_asin_tail
// asin(s) - s for z = s * s <= 1/4; the polynomial of Cephes asinf.
float firn_asin_tail(float z, float s) {
    float p = 4.2163199048e-2;
    p = p * z + 2.4181311049e-2;
    p = p * z + 4.5470025998e-2;
    p = p * z + 7.4953002686e-2;
    p = p * z + 1.6666752422e-1;
    return p * z * s;
}

//@function firn_asin needs firn_asin_tail
// Beyond 1/2: asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)).
float firn_asin(float x) {
    float a = abs(x);
    bool large = a > 0.5;
    float z = mix(a * a, 0.5 - 0.5 * a, large);
    float root = sqrt(z);
    float s = large ? root : a;
    float angle = firn_asin_tail(z, s) + s;
    precise float mirrored = 1.57079637 - (2.0 * angle + 4.37113883e-8);
    angle = large ? mirrored : angle;
    return uintBitsToFloat(floatBitsToUint(angle) | (floatBitsToUint(x) & 0x80000000u));
}

//@function firn_acos needs firn_asin_tail
float firn_acos(float x) {
    float a = abs(x);
    bool large = a > 0.5;
    float z = mix(a * a, 0.5 - 0.5 * a, large);
    float root = sqrt(z);
    float s = large ? root : x;
    float tail = firn_asin_tail(z, s);
    precise float near_zero = 1.57079637 - (s + (tail + 4.37113883e-8));
    float near_one = 2.0 * (s + tail);
    precise float near_minus_one = 3.14159274 - (near_one + 8.74227766e-8);
    float near_end = x < 0.0 ? near_minus_one : near_one;
    return large ? near_end : near_zero;
}

//@function firn_atan_part
// atan(q) for |q| <= tan(pi/8); after Cephes atanf.
float firn_atan_part(float q) {
    float z = q * q;
    float p = 8.05374449538e-2;
    p = p * z - 1.38776856032e-1;
    p = p * z + 1.99777106478e-1;
    p = p * z - 3.33329491539e-1;
    return p * z * q + q;
}

//@function firn_atan needs firn_atan_part
// One division serves the three ranges: around 0, around 1 and around infinity.
float firn_atan(float x) {
    float a = abs(x);
    bool beyond = a > 2.41421356;
    bool middle = a > 0.414213562;
    float above = mix(a, a - 1.0, middle);
    above = beyond ? -1.0 : above;
    float below = mix(1.0, a + 1.0, middle);
    below = beyond ? a : below;
    float offset = middle ? 0.785398185 : 0.0;
    offset = beyond ? 1.57079637 : offset;
    float low = middle ? -2.18556941e-8 : 0.0;
    low = beyond ? -4.37113883e-8 : low;
    precise float angle = offset + (firn_atan_part(above / below) + low);
    return uintBitsToFloat(floatBitsToUint(angle) | (floatBitsToUint(x) & 0x80000000u));
}

//@function firn_atan2 needs firn_atan_part
// The angle in the first eighth by one division, then turned to where it belongs.
float firn_atan2(float y, float x) {
    float ax = abs(x);
    float ay = abs(y);
    bool steep = ay > ax;
    float least = steep ? ax : ay;
    float most = steep ? ay : ax;
    // Both infinite is the diagonal; sums must not overflow, nor divisors be subnormal.
    bool infinite = floatBitsToUint(least) == 0x7f800000u;
    least = infinite ? 1.0 : least;
    most = infinite ? 1.0 : most;
    float scale = most > 1.0e37 ? 0.0625 : 1.0;
    scale = most < 1.0e-18 ? 1.67772160e7 : scale;
    least *= scale;
    most *= scale;
    bool middle = least > 0.414213562 * most;
    float above = mix(least, least - most, middle);
    float below = mix(most, least + most, middle);
    float quotient = above / below;
    quotient = most == 0.0 ? 0.0 : quotient;
    float offset = middle ? 0.785398185 : 0.0;
    float low = middle ? -2.18556941e-8 : 0.0;
    precise float part = firn_atan_part(quotient) + low;
    // The offsets join before the small part does, so that it is rounded once.
    float turn = mix(offset, 1.57079637 - offset, steep);
    float turn_low = steep ? -4.37113883e-8 : 0.0;
    part = mix(part, -part, steep);
    bool left = (floatBitsToUint(x) & 0x80000000u) != 0u;
    turn = mix(turn, 3.14159274 - turn, left);
    turn_low = mix(turn_low, -8.74227766e-8 - turn_low, left);
    part = mix(part, -part, left);
    precise float angle = turn + (part + turn_low);
    angle = uintBitsToFloat(floatBitsToUint(angle) | (floatBitsToUint(y) & 0x80000000u));
    return mix(angle, uintBitsToFloat(0x7fc00000u), x != x || y != y);
}
