// The mathematical functions that generated kernels call: GLSL's own are too coarse, or missing.
//
// Sections as in arithmetic.glsl. No loops, no arrays and but one branch: arguments of every size take
// the same way, and selects choose: mix() between expressions, as a ternary there is a branch. `precise`
// marks error-free steps, which compilers must not rearrange. Results and arguments below 2^-126 may be
// taken as 0, as devices do.
//
// compiler/kernel/functions defines the same functions as kernel code, with the same bits (tests/device/functions_test.cpp).
//
// Largest errors found, those of trigonometry.glsl too, in units in the last place, over all exponents
// (tests/device/math_test.cpp holds every function to its bound): exp 1.0, exp2 1.0, expm1 1.6, log 0.9,
// log2 1.4, log1p 0.9, sin and cos 2.6, tan 3.6 (beyond |x| = 1e5 plus 1e-11), asin 2.3, acos 1.1, atan
// 2.3, atan2 2.2, sinh 1.7, cosh 1.5, tanh 2.9, erf 1.4, pow 2.8.

//@function firn_exp_tail
// exp(r) - 1 for |r| <= ln(2) / 2, to 3e-9 of exp(r) (a minimax fit). Its parts do not wait for one another: on
// a CPU driver one exponential stands behind the other, and what waits fills the core's queues.
float firn_exp_tail(float r) {
    float z = r * r;
    float low = 1.66665226e-1 * r + 4.9999994e-1;
    float high = 8.3685331e-3 * r + 4.16682921e-2 + 1.38182915e-3 * z;
    return (low + high * z) * z + r;
}

//@function firn_expm1_part
// The same with the polynomial of Cephes expf, for those that lose digits behind it.
float firn_expm1_part(float r) {
    float z = r * r;
    float low = 1.6666665459e-1 * r + 5.0000001201e-1;
    float middle = 8.3334519073e-3 * r + 4.1665795894e-2;
    float high = 1.9875691500e-4 * r + 1.3981999507e-3;
    return ((high * z + middle) * z + low) * z + r;
}

//@function firn_times_power
// x 2^n for x in [1/2, 2): n is added to the exponent. Not for results below 2^-126 or beyond 2^128.
float firn_times_power(float x, float n) { return intBitsToFloat(floatBitsToInt(x) + (int(n) << 23)); }

//@function firn_scale
// x * 2^n for |n| <= 252, in two steps so that neither factor leaves the range.
float firn_scale(float x, int n) {
    int half_n = n >> 1;
    float first = intBitsToFloat((half_n + 127) << 23);
    float second = intBitsToFloat((n - half_n + 127) << 23);
    return x * first * second;
}

//@function firn_exp_scaled needs firn_exp_tail firn_scale
// 2^shift * exp(x + low) for a `low` far smaller than x: x = n ln(2) + r, ln(2) in two parts.
float firn_exp_scaled(float x, float low, int shift) {
    float bounded = clamp(x, -110.0, 95.0);
    float n = roundEven(bounded * 1.44269504);
    precise float r = (bounded - n * 0.693359375) - n * -2.12194440e-4 + low;
    precise float power = firn_exp_tail(r) + 1.0;
    float value = firn_scale(power, int(n) + shift);
    return x != x ? x : value;
}

//@function firn_exp_edges
// What lies beyond the range of `value`, an exponential of `x`: 0 below `least`, infinity above `most`, nan.
float firn_exp_edges(float value, float x, float least, float most) {
    float beyond = x + uintBitsToFloat(0x7f800000u);
    value = x < least ? 0.0 : value;
    return x <= most ? value : beyond;
}

//@function firn_exp needs firn_exp_tail firn_times_power firn_exp_edges
// x = n ln(2) + r, ln(2) in two parts (Cody and Waite). Results below 2^-126 are 0.
float firn_exp(float x) {
    float n = roundEven(x * 1.44269504);
    precise float r = (x - n * 0.693359375) - n * -2.12194440e-4;
    precise float power = firn_exp_tail(r) + 1.0;
    return firn_exp_edges(firn_times_power(power, n), x, -87.33654, 88.72283);
}

//@function firn_exp2 needs firn_exp_tail firn_times_power firn_exp_edges
float firn_exp2(float x) {
    float n = roundEven(x);
    precise float power = firn_exp_tail((x - n) * 0.693147181) + 1.0;
    return firn_exp_edges(firn_times_power(power, n), x, -126.0, 127.999992);
}

//@function firn_expm1 needs firn_expm1_part
// 2^n (exp(r) - 1) + (2^n - 1), computed at half its size so that 2^128 is never needed.
float firn_expm1(float x) {
    float bounded = clamp(x, -20.0, 95.0);
    float n = min(roundEven(bounded * 1.44269504), 128.0);
    precise float r = (bounded - n * 0.693359375) - n * -2.12194440e-4;
    float half_scale = intBitsToFloat((int(n) + 126) << 23);
    float value = (half_scale * firn_expm1_part(r) + (half_scale - 0.5)) * 2.0;
    value = mix(value, uintBitsToFloat(0x7f800000u), x > 89.0);
    // The sign of zero, and nan.
    return abs(x) > 1.0e-9 ? value : x;
}

//@function firn_log_tail
// log(1 + f) - f for 1 + f in [sqrt(1/2), sqrt(2)]; the polynomial of Cephes logf.
float firn_log_tail(float f) {
    float z = f * f;
    float p = 7.0376836292e-2;
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

//@function firn_split
// x = (1 + f) 2^exponent with 1 + f in [sqrt(1/2), sqrt(2)], for finite x > 0. Subnormals are read as
// integers, so that devices that flush them to zero see them too.
float firn_split(float x, out float exponent) {
    int bits = floatBitsToInt(x);
    bool subnormal = bits < 0x00800000;
    int normal = floatBitsToInt(float(bits));
    bits = subnormal ? normal : bits;
    int above = bits - 0x3f3504f3;
    float shift = subnormal ? 149.0 : 0.0;
    exponent = float(above >> 23) - shift;
    return intBitsToFloat((above & 0x007fffff) + 0x3f3504f3) - 1.0;
}

//@function firn_log_edges
// The logarithm of 0, infinity, negative numbers and nan, where `value` has none.
float firn_log_edges(float x, float value) {
    uint bits = floatBitsToUint(x);
    float result = bits == 0x7f800000u ? x : value;
    result = mix(result, uintBitsToFloat(0x7fc00000u), bits > 0x7f800000u);
    return mix(result, uintBitsToFloat(0xff800000u), (bits & 0x7fffffffu) == 0u);
}

//@function firn_log needs firn_log_tail firn_split firn_log_edges
// After Cephes logf.
float firn_log(float x) {
    float e;
    float f = firn_split(x, e);
    precise float value = firn_log_tail(f) + e * -2.12194440e-4 + f + e * 0.693359375;
    return firn_log_edges(x, value);
}

//@function firn_log2 needs firn_log_tail firn_split firn_log_edges
float firn_log2(float x) {
    float e;
    float f = firn_split(x, e);
    // log2(e) in two parts: 1.4426950 = 1 + 0.4426950.
    float tail = firn_log_tail(f);
    precise float value = tail * 0.44269504 + f * 0.44269504 + tail + f + e;
    return firn_log_edges(x, value);
}

//@function firn_log1p needs firn_log_tail firn_split firn_log_edges
// log(1 + x) of the rounded sum and the part that rounding lost; near 0 without the sum.
float firn_log1p(float x) {
    precise float sum = 1.0 + x;
    precise float lost = mix(x - (sum - 1.0), 1.0 - (sum - x), x > 1.0);
    float e;
    float f = firn_split(sum, e);
    float correction = lost / sum;
    f = e == 0.0 ? x : f;
    correction = e == 0.0 ? 0.0 : correction;
    precise float value = firn_log_tail(f) + (e * -2.12194440e-4 + correction) + f + e * 0.693359375;
    value = firn_log_edges(sum, value);
    return abs(x) < 1.0e-8 ? x : value;
}

//@function firn_sinh needs firn_exp_scaled
// Below 1 the polynomial of Cephes sinhf.
float firn_sinh(float x) {
    float a = abs(x);
    float z = x * x;
    float p = 2.03721912945e-4;
    p = p * z + 8.33028376239e-3;
    p = p * z + 1.66667160211e-1;
    float small = p * z * x + x;
    float half_exp = firn_exp_scaled(a, 0.0, -1);
    float large = half_exp - 0.25 / half_exp;
    large = uintBitsToFloat(floatBitsToUint(large) | (floatBitsToUint(x) & 0x80000000u));
    return a > 1.0 ? large : small;
}

//@function firn_cosh needs firn_exp_scaled
float firn_cosh(float x) {
    float half_exp = firn_exp_scaled(abs(x), 0.0, -1);
    return half_exp + 0.25 / half_exp;
}

//@function firn_tanh needs firn_expm1_part
// t / (t + 2) for t = exp(2 |x|) - 1, of which no digit is lost near 0. Beyond 9.1 it is 1.
float firn_tanh(float x) {
    float y = 2.0 * min(abs(x), 9.5);
    float n = roundEven(y * 1.44269504);
    precise float r = (y - n * 0.693359375) - n * -2.12194440e-4;
    float power = intBitsToFloat((int(n) + 127) << 23);
    float t = power * firn_expm1_part(r) + (power - 1.0);
    // A device's quotient may be some units too large.
    float bounded = min(t / (t + 2.0), 1.0);
    float value = uintBitsToFloat(floatBitsToUint(bounded) | (floatBitsToUint(x) & 0x80000000u));
    return x != x ? x : value;
}

//@function firn_one_plus_tanh needs firn_times_power
// 2 / (1 + exp(-2x)), the exponential to 1e-7 near 0 and 1e-5 far out, where the sum written out has no digit left.
float firn_one_plus_tanh(float x) {
    float t = clamp(x * -2.88539008, -126.0, 128.0);
    float n = roundEven(t);
    float f = t - n;
    float z = f * f;
    float high = 1.326467266e-3 * f + 9.671555188e-3;
    float middle = 5.550734258e-2 * f + 2.402224144e-1;
    float power = (middle + high * z) * z + (6.931469771e-1 * f + 1.0);
    // An eighth of both, because devices may give 0 for what is divided by more than 2^126.
    float value = 0.25 / (0.125 + 0.125 * firn_times_power(power, n));
    return x != x ? x : value;
}

//@function firn_erf needs firn_exp_scaled
// Two minimax polynomials by N. Juffa: of erf(x) / x - 1, and of log(erfc(|x|)) beyond 0.9277.
float firn_erf(float x) {
    float a = min(abs(x), 4.0);
    float z = a * a;
    float q = -1.72853470e-5 * a + 3.83197126e-4;
    q = q * z + (-3.88396438e-3 * a + 2.42546219e-2);
    q = q * a - 1.06777877e-1;
    q = q * a - 6.34846687e-1;
    q = q * a - 1.28717512e-1;
    q = q * a - a;
    float large = 1.0 - firn_exp_scaled(q, 0.0, 0);
    large = uintBitsToFloat(floatBitsToUint(large) | (floatBitsToUint(x) & 0x80000000u));
    float p = -5.96761703e-4;
    p = p * z + 4.99119423e-3;
    p = p * z - 2.67681349e-2;
    p = p * z + 1.12819925e-1;
    p = p * z - 3.76125336e-1;
    p = p * z + 1.28379166e-1;
    // Near the smallest numbers p * x is subnormal, which a device may flush.
    float small = mix(p * x + x, 1.12837917 * x, a < 1e-30);
    float value = a > 0.927734375 ? large : small;
    return x != x ? x : value;
}

//@function firn_high_bits
// The leading 12 bits of x; the rest, x - firn_high_bits(x), has 12 too.
float firn_high_bits(float x) { return uintBitsToFloat(floatBitsToUint(x) & 0xfffff000u); }

//@function firn_log_pair needs firn_high_bits firn_split
// log(x) for finite x > 0 as the sum of the result and `low`, to about 2^-30 of itself:
// log(1 + f) = 2 atanh(q), q = f / (2 + f) with its rounding error.
float firn_log_pair(float x, out float low) {
    float e;
    precise float f = firn_split(x, e);
    precise float m = f + 1.0;
    precise float d = m + 1.0;
    precise float d_lost = m - (d - 1.0);
    precise float q = f / d;
    precise float q_high = firn_high_bits(q);
    precise float d_high = firn_high_bits(d);
    precise float d_low = (d - d_high) + d_lost;
    precise float q_low = ((f - q_high * d_high) - q_high * d_low) / d;
    float z = q * q;
    float p = 2.4007078e-1;
    p = p * z + 2.8518319e-1;
    p = p * z + 4.0000796e-1;
    p = p * z + 6.6666663e-1;
    precise float tail = 2.0 * q_low + p * z * q;
    precise float base = e * 0.693359375;
    precise float leading = 2.0 * q_high;
    precise float sum = base + leading;
    precise float lost = leading - (sum - base);
    precise float rest = e * -2.12194440e-4 + lost + tail;
    precise float high = sum + rest;
    precise float below = rest - (high - sum);
    low = below;
    return high;
}

//@function firn_pow needs firn_exp_scaled firn_log_pair firn_high_bits
// exp(y log|x|) with the logarithm and the product in two parts; the edges of C's pow.
float firn_pow(float x, float y) {
    float a = abs(x);
    float log_low;
    float log_high = firn_log_pair(a, log_low);
    bool zero = a == 0.0;
    bool infinite = floatBitsToUint(a) == 0x7f800000u;
    float bounded = clamp(y, -1.0e25, 1.0e25);

    precise float l_high = firn_high_bits(log_high);
    precise float l_low = (log_high - l_high) + log_low;
    precise float y_high = firn_high_bits(bounded);
    precise float y_low = bounded - y_high;
    precise float product = y_high * l_high;
    precise float rest = y_high * l_low + y_low * l_high + y_low * l_low;
    bool outside = abs(product) > 120.0;
    float value = firn_exp_scaled(product, outside ? 0.0 : rest, 0);

    float edge = mix(uintBitsToFloat(0x7f800000u), 0.0, zero == (y > 0.0));
    value = zero || infinite ? edge : value;
    float half_y = 0.5 * y;
    bool whole = floor(y) == y;
    bool odd = whole && floor(half_y) != half_y && abs(y) < 1.67772160e7;
    bool negative = (floatBitsToUint(x) & 0x80000000u) != 0u;
    value = uintBitsToFloat(floatBitsToUint(value) ^ (negative && odd ? 0x80000000u : 0u));
    bool undefined = negative && !whole && !zero && !infinite;
    value = mix(value, uintBitsToFloat(0x7fc00000u), undefined || x != x || y != y);
    return y == 0.0 || x == 1.0 ? 1.0 : value;
}
