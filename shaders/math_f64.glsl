// The mathematical functions of f64: GLSL has none. As math.glsl, whose methods these are with more terms:
// results and arguments below 2^-1022 may be taken as 0.
//
// Largest errors found, those of trigonometry_f64.glsl too, in units in the last place, over all exponents
// (tests/device/math_f64_test.cpp holds every function to its bound): exp and exp2 1.1, expm1 1.9, log and log1p 0.8,
// log2 1.1, sin 2.6, cos 2.3, tan 3.7, asin 2.2, acos 1.1, atan 1.8, atan2 1.8, sinh 1.6, cosh 1.4, tanh 2.4,
// erf 1.4, pow 1.1. The polynomials are Taylor's, those of fdlibm (Sun Microsystems, 1993), or fits that say so.

//@function firn_power_f64
// 2^n for |n| <= 1022.
double firn_power_f64(int n) { return packDouble2x32(uvec2(0u, uint(n + 1023) << 20)); }

//@function firn_scale_f64 needs firn_power_f64
// x 2^n for |n| <= 2044, in two steps so that neither factor leaves the range.
double firn_scale_f64(double x, int n) {
    int half_n = n >> 1;
    return x * firn_power_f64(half_n) * firn_power_f64(n - half_n);
}

//@function firn_signed_f64
// A value without a sign, with that of `of`.
double firn_signed_f64(double size, double of) {
    uvec2 bits = unpackDouble2x32(size);
    return packDouble2x32(uvec2(bits.x, bits.y | (unpackDouble2x32(of).y & 0x80000000u)));
}

//@function firn_round_f64 needs firn_signed_f64
// To the nearest integer, halves to the even one: 2^52 leaves no room for what is less. lavapipe's roundEven of
// doubles takes halves towards 0 and forgets -0 on cores without AVX-512, and its trunc forgets -0.
double firn_round_f64(double x) {
    double size = abs(x);
    precise double rounded = (size + 4503599627370496.0lf) - 4503599627370496.0lf;
    return firn_signed_f64(size < 4503599627370496.0lf ? rounded : size, x);
}

//@function firn_trunc_f64 needs firn_signed_f64
double firn_trunc_f64(double x) { return firn_signed_f64(trunc(abs(x)), x); }

//@function firn_infinity_f64
double firn_infinity_f64() { return packDouble2x32(uvec2(0u, 0x7ff00000u)); }

//@function firn_nan_f64
double firn_nan_f64() { return packDouble2x32(uvec2(0u, 0x7ff80000u)); }

//@function firn_exp_tail_f64
// exp(r) - 1 for |r| <= ln(2) / 2, Taylor's series.
double firn_exp_tail_f64(double r) {
    double p = 1.6059043836821613e-10lf;
    p = p * r + 2.08767569878681e-09lf;
    p = p * r + 2.505210838544172e-08lf;
    p = p * r + 2.755731922398589e-07lf;
    p = p * r + 2.7557319223985893e-06lf;
    p = p * r + 2.48015873015873e-05lf;
    p = p * r + 0.0001984126984126984lf;
    p = p * r + 0.001388888888888889lf;
    p = p * r + 0.008333333333333333lf;
    p = p * r + 0.041666666666666664lf;
    p = p * r + 0.16666666666666666lf;
    p = p * r + 0.5lf;
    return p * (r * r) + r;
}

//@function firn_exp_scaled_f64 needs firn_exp_tail_f64 firn_scale_f64
// 2^shift * exp(x + low) for a `low` far smaller than x: x = n ln(2) + r, ln(2) in two parts.
double firn_exp_scaled_f64(double x, double low, int shift) {
    double bounded = clamp(x, -760.0lf, 720.0lf);
    double turns = roundEven(bounded * 1.4426950408889634lf);
    precise double r = (bounded - turns * 6.93147180369123816490e-1lf) - turns * 1.90821492927058770002e-10lf + low;
    precise double power = firn_exp_tail_f64(r) + 1.0lf;
    double value = firn_scale_f64(power, int(turns) + shift);
    return x != x ? x : value;
}

//@function firn_exp_f64 needs firn_exp_scaled_f64
double firn_exp_f64(double x) { return firn_exp_scaled_f64(x, 0.0lf, 0); }

//@function firn_exp2_f64 needs firn_exp_tail_f64 firn_scale_f64
double firn_exp2_f64(double x) {
    double bounded = clamp(x, -1080.0lf, 1030.0lf);
    double turns = roundEven(bounded);
    precise double power = firn_exp_tail_f64((bounded - turns) * 0.6931471805599453lf) + 1.0lf;
    double value = firn_scale_f64(power, int(turns));
    return x != x ? x : value;
}

//@function firn_expm1_f64 needs firn_exp_tail_f64 firn_power_f64 firn_infinity_f64
// 2^n (exp(r) - 1) + (2^n - 1), computed at half its size so that 2^1024 is never needed.
double firn_expm1_f64(double x) {
    double bounded = clamp(x, -45.0lf, 711.0lf);
    double turns = min(roundEven(bounded * 1.4426950408889634lf), 1024.0lf);
    precise double r = (bounded - turns * 6.93147180369123816490e-1lf) - turns * 1.90821492927058770002e-10lf;
    double half_scale = firn_power_f64(int(turns) - 1);
    double value = (half_scale * firn_exp_tail_f64(r) + (half_scale - 0.5lf)) * 2.0lf;
    value = mix(value, firn_infinity_f64(), x > 710.0lf);
    // The sign of zero, and nan.
    return abs(x) > 1.0e-18lf ? value : x;
}

//@function firn_split_f64
// x = (1 + f) 2^exponent with 1 + f in [sqrt(1/2), sqrt(2)], for finite x > 0.
double firn_split_f64(double x, out double exponent) {
    bool subnormal = unpackDouble2x32(x).y < 0x00100000u;
    uvec2 bits = unpackDouble2x32(mix(x, x * 18014398509481984.0lf, subnormal));
    uint above = bits.y - 0x3fe6a09eu;
    exponent = double(int(above) >> 20) - (subnormal ? 54.0lf : 0.0lf);
    return packDouble2x32(uvec2(bits.x, (above & 0x000fffffu) + 0x3fe6a09eu)) - 1.0lf;
}

//@function firn_log_rest_f64
// log(1 + f) - f + f f / 2 for 1 + f in [sqrt(1/2), sqrt(2)].
double firn_log_rest_f64(double f) {
    double s = f / (2.0lf + f);
    double z = s * s;
    double p = 0.14798198605116586lf;
    p = p * z + 0.15313837699209373lf;
    p = p * z + 0.1818357216161805lf;
    p = p * z + 0.22222198432149784lf;
    p = p * z + 0.2857142874366239lf;
    p = p * z + 0.3999999999940942lf;
    p = p * z + 0.6666666666666735lf;
    return s * (0.5lf * f * f + p * z);
}

//@function firn_log_edges_f64 needs firn_infinity_f64 firn_nan_f64
// The logarithm of 0, infinity, negative numbers and nan, where `value` has none.
double firn_log_edges_f64(double x, double value) {
    double result = x == firn_infinity_f64() ? x : value;
    result = x > 0.0lf ? result : firn_nan_f64();
    return x == 0.0lf ? -firn_infinity_f64() : result;
}

//@function firn_log_f64 needs firn_split_f64 firn_log_rest_f64 firn_log_edges_f64
double firn_log_f64(double x) {
    double e;
    double f = firn_split_f64(x, e);
    double square = 0.5lf * f * f;
    precise double value = e * 6.93147180369123816490e-1lf -
                           ((square - (firn_log_rest_f64(f) + e * 1.90821492927058770002e-10lf)) - f);
    return firn_log_edges_f64(x, value);
}

//@function firn_log1p_f64 needs firn_split_f64 firn_log_rest_f64 firn_log_edges_f64
// log(1 + x) of the rounded sum and the part that rounding lost; near 0 without the sum.
double firn_log1p_f64(double x) {
    precise double sum = 1.0lf + x;
    precise double lost = mix(x - (sum - 1.0lf), 1.0lf - (sum - x), x > 1.0lf);
    double e;
    double f = firn_split_f64(sum, e);
    double correction = e == 0.0lf ? 0.0lf : lost / sum;
    f = e == 0.0lf ? x : f;
    double square = 0.5lf * f * f;
    precise double value = e * 6.93147180369123816490e-1lf -
                           ((square - (firn_log_rest_f64(f) + (e * 1.90821492927058770002e-10lf + correction))) - f);
    value = firn_log_edges_f64(sum, value);
    return abs(x) < 1.0e-17lf ? x : value;
}

//@function firn_high_bits_f64
// The leading 26 bits of x; products of two of these are exact.
double firn_high_bits_f64(double x) {
    uvec2 bits = unpackDouble2x32(x);
    return packDouble2x32(uvec2(bits.x & 0xf8000000u, bits.y));
}

//@function firn_log2_f64 needs firn_split_f64 firn_log_rest_f64 firn_log_edges_f64 firn_high_bits_f64
// log(1 + f) in two parts by 1 / ln(2) in two parts.
double firn_log2_f64(double x) {
    double e;
    double f = firn_split_f64(x, e);
    precise double square = 0.5lf * f * f;
    precise double high = firn_high_bits_f64(f - square);
    precise double low = ((f - high) - square) + firn_log_rest_f64(f);
    precise double large = high * 1.44269504072144627571e+0lf;
    precise double sum = e + large;
    precise double small = (low + high) * 1.67517131648865118353e-10lf + low * 1.44269504072144627571e+0lf +
                           ((e - sum) + large);
    precise double value = small + sum;
    return firn_log_edges_f64(x, value);
}

//@function firn_sinh_f64 needs firn_exp_scaled_f64 firn_signed_f64
// Below 1 Taylor's series.
double firn_sinh_f64(double x) {
    double a = abs(x);
    double z = x * x;
    double p = 8.22063524662433e-18lf;
    p = p * z + 2.8114572543455206e-15lf;
    p = p * z + 7.647163731819816e-13lf;
    p = p * z + 1.6059043836821613e-10lf;
    p = p * z + 2.505210838544172e-08lf;
    p = p * z + 2.7557319223985893e-06lf;
    p = p * z + 0.0001984126984126984lf;
    p = p * z + 0.008333333333333333lf;
    p = p * z + 0.16666666666666666lf;
    double small = p * z * x + x;
    double half_exp = firn_exp_scaled_f64(a, 0.0lf, -1);
    double large = firn_signed_f64(half_exp - 0.25lf / half_exp, x);
    return a > 1.0lf ? large : small;
}

//@function firn_cosh_f64 needs firn_exp_scaled_f64
double firn_cosh_f64(double x) {
    double half_exp = firn_exp_scaled_f64(abs(x), 0.0lf, -1);
    return half_exp + 0.25lf / half_exp;
}

//@function firn_tanh_f64 needs firn_expm1_f64 firn_signed_f64
// t / (t + 2) for t = exp(2 |x|) - 1, of which no digit is lost near 0. Beyond 19.1 it is 1.
double firn_tanh_f64(double x) {
    double t = firn_expm1_f64(2.0lf * min(abs(x), 20.0lf));
    double value = firn_signed_f64(t / (t + 2.0lf), x);
    return x != x ? x : value;
}

//@function firn_erf_f64 needs firn_exp_scaled_f64 firn_signed_f64
// Below 1 Taylor's series; beyond it erfc(a) = exp(p - a a), p a polynomial of 2 / (2 + a) around the middle of
// one of two ranges (Chebyshev interpolation).
double firn_erf_f64(double x) {
    double a = min(abs(x), 6.0lf);
    double z = a * a;
    double q = 4.763348040515068e-18lf;
    q = q * z - 9.063970842808673e-17lf;
    q = q * z + 1.6342614095367152e-15lf;
    q = q * z - 2.7835162072109215e-14lf;
    q = q * z + 4.4632242632864775e-13lf;
    q = q * z - 6.7113668551641105e-12lf;
    q = q * z + 9.422759064650411e-11lf;
    q = q * z - 1.2290555301717928e-09lf;
    q = q * z + 1.4807192815879218e-08lf;
    q = q * z - 1.6365844691234924e-07lf;
    q = q * z + 1.6462114365889248e-06lf;
    q = q * z - 1.492565035840625e-05lf;
    q = q * z + 0.00012055332981789664lf;
    q = q * z - 0.0008548327023450853lf;
    q = q * z + 0.005223977625442188lf;
    q = q * z - 0.026866170645131252lf;
    q = q * z + 0.11283791670955126lf;
    q = q * z - 0.37612638903183754lf;
    q = q * z + 0.1283791670955126lf;
    double small = q * x + x;
    bool far = a > 2.2lf;
    double t = 2.0lf / (2.0lf + a);
    double u = far ? (t - 0.3630952380952381lf) * 8.842105263157896lf : (t - 0.5714285714285714lf) * 10.5lf;
    double p = far ? 2.395851491393871e-09lf : 1.5670474538610498e-13lf;
    p = p * u + (far ? -8.21723235298427e-09lf : -1.006844167608778e-12lf);
    p = p * u + (far ? 1.8733885529009518e-08lf : 5.8575442405549785e-12lf);
    p = p * u + (far ? -6.525116445247448e-08lf : -3.794509787125046e-11lf);
    p = p * u + (far ? 2.44454361744805e-07lf : 2.5022271737125223e-10lf);
    p = p * u + (far ? -8.630270425630225e-07lf : -1.670109720382869e-09lf);
    p = p * u + (far ? 3.0656256223991303e-06lf : 1.1156097663800075e-08lf);
    p = p * u + (far ? -1.1081923087145095e-05lf : -7.344034011630685e-08lf);
    p = p * u + (far ? 4.062146265218295e-05lf : 4.914809636775239e-07lf);
    p = p * u + (far ? -0.00015154698872523988lf : -3.596976198168961e-06lf);
    p = p * u + (far ? 0.0005880471075835521lf : 2.8061142318442585e-05lf);
    p = p * u + (far ? -0.0024014436560983563lf : -0.00019720498897800456lf);
    p = p * u + (far ? 0.009718526477400657lf : 0.0011930598887231164lf);
    p = p * u + (far ? -0.0444241086923133lf : -0.012934634896181938lf);
    p = p * u + (far ? 0.4556052137586412lf : 0.2968004677047245lf);
    p = p * u + (far ? -1.864616315451696lf : -1.134492089551553lf);
    double large = firn_signed_f64(1.0lf - firn_exp_scaled_f64(p - z, 0.0lf, 0), x);
    double value = a > 1.0lf ? large : small;
    return x != x ? x : value;
}

//@function firn_log_pair_f64 needs firn_high_bits_f64 firn_split_f64
// log(x) for finite x > 0 as the sum of the result and `low`, to about 2^-66 (of itself near 1): 2 atanh(q),
// q = f / (2 + f) with its rounding error, and so is the cube of q.
double firn_log_pair_f64(double x, out double low) {
    double e;
    precise double f = firn_split_f64(x, e);
    precise double m = f + 1.0lf;
    precise double d = m + 1.0lf;
    precise double d_lost = m - (d - 1.0lf);
    precise double q = f / d;
    precise double q_high = firn_high_bits_f64(q);
    precise double d_high = firn_high_bits_f64(d);
    precise double d_low = (d - d_high) + d_lost;
    precise double q_low = ((f - q_high * d_high) - q_high * d_low) / d;
    precise double square = q_high * q_high;
    precise double square_low = 2.0lf * q_high * q_low + q_low * q_low;
    precise double square_high = firn_high_bits_f64(square);
    precise double cube = q_high * square_high;
    precise double cube_low = q_high * ((square - square_high) + square_low) + q_low * (square + square_low);
    precise double cube_high = firn_high_bits_f64(cube);
    precise double third = cube_high * 0.66666665673255920lf;
    precise double third_low =
        cube_high * 9.934107462565104e-9lf + ((cube - cube_high) + cube_low) * 0.66666666666666663lf;
    double z = q * q;
    double p = 0.08lf;
    p = p * z + 0.08695652173913043lf;
    p = p * z + 0.09523809523809523lf;
    p = p * z + 0.10526315789473684lf;
    p = p * z + 0.11764705882352941lf;
    p = p * z + 0.13333333333333333lf;
    p = p * z + 0.15384615384615385lf;
    p = p * z + 0.18181818181818182lf;
    p = p * z + 0.2222222222222222lf;
    p = p * z + 0.2857142857142857lf;
    p = p * z + 0.4lf;
    precise double base = e * 6.93147180369123816490e-1lf;
    precise double leading = 2.0lf * q_high;
    precise double sum = base + leading;
    precise double lost = leading - (sum - base);
    precise double both = sum + third;
    precise double both_lost = third - (both - sum);
    precise double rest = (e * 1.90821492927058770002e-10lf + (2.0lf * q_low + p * z * z * q)) +
                          (lost + (both_lost + third_low));
    precise double high = both + rest;
    precise double below = rest - (high - both);
    low = below;
    return high;
}

//@function firn_pow_f64 needs firn_exp_scaled_f64 firn_log_pair_f64 firn_high_bits_f64 firn_infinity_f64 firn_nan_f64
// exp(y log|x|) with the logarithm and the product in two parts; the edges of C's pow.
double firn_pow_f64(double x, double y) {
    double a = abs(x);
    double log_low;
    double log_high = firn_log_pair_f64(a, log_low);
    bool zero = a == 0.0lf;
    bool infinite = a == firn_infinity_f64();
    double bounded = clamp(y, -1.0e30lf, 1.0e30lf);

    precise double l_high = firn_high_bits_f64(log_high);
    precise double l_low = (log_high - l_high) + log_low;
    precise double y_high = firn_high_bits_f64(bounded);
    precise double y_low = bounded - y_high;
    precise double product = y_high * l_high;
    precise double rest = y_high * l_low + y_low * l_high + y_low * l_low;
    bool outside = abs(product) > 800.0lf;
    double value = firn_exp_scaled_f64(product, outside ? 0.0lf : rest, 0);

    double edge = zero == (y > 0.0lf) ? 0.0lf : firn_infinity_f64();
    value = zero || infinite ? edge : value;
    bool whole = floor(y) == y;
    double half_y = 0.5lf * y;
    bool odd = whole && floor(half_y) != half_y && abs(y) < 9007199254740992.0lf;
    bool negative = (unpackDouble2x32(x).y & 0x80000000u) != 0u;
    value = negative && odd ? -value : value;
    bool undefined = negative && !whole && !zero && !infinite;
    value = undefined || x != x || y != y ? firn_nan_f64() : value;
    return y == 0.0lf || x == 1.0lf ? 1.0lf : value;
}
