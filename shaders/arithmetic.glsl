// Arithmetic that generated kernels call where GLSL leaves something undefined: division, conversion,
// minima, rounding to half precision.
//
// The compiler copies out what a kernel uses: `//@function NAME needs OTHERS` starts a section, and what
// a function needs stands before it.

//@function NAME needs OTHERS` starts a section, and what
// a function needs stands before it. No loops but long divisions', no arrays, no branches: arguments of every size take the
// same way, and selects choose. `precise` marks error-free steps, which compilers must not rearrange.
// Errors are the largest found against double precision (tests/device/math_test.cpp holds them);
// results and arguments below 2^-126 may be taken as 0, as devices do.

//@function firn_is_nan_f32
bool firn_is_nan_f32(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }

//@function firn_is_inf_f32
bool firn_is_inf_f32(float x) { return (floatBitsToUint(x) & 0x7fffffffu) == 0x7f800000u; }

//@function firn_is_nan_f64
bool firn_is_nan_f64(double x) {
    uvec2 bits = unpackDouble2x32(x);
    uint high = bits.y & 0x7fffffffu;
    return high > 0x7ff00000u || (high == 0x7ff00000u && bits.x != 0u);
}

//@function firn_is_inf_f64
bool firn_is_inf_f64(double x) {
    uvec2 bits = unpackDouble2x32(x);
    return (bits.y & 0x7fffffffu) == 0x7ff00000u && bits.x == 0u;
}

//@function firn_round_f16
// The nearest half-precision value, ties to even; packHalf2x16 truncates on some devices.
float firn_round_f16(float x) {
    uint bits = floatBitsToUint(x);
    uint sign = bits & 0x80000000u;
    uint magnitude = bits ^ sign;
    uint wide = (magnitude + 0xfffu + ((magnitude >> 13) & 1u)) & 0xffffe000u;
    wide = magnitude >= 0x477ff000u ? 0x7f800000u : wide;
    wide = mix(wide, (magnitude & 0xffffe000u) | 0x400000u, magnitude > 0x7f800000u);
    // Below 2^-14 the steps of 2^-24 are those of floats around 0.5.
    precise float shifted = uintBitsToFloat(magnitude) + 0.5;
    precise float small = shifted - 0.5;
    wide = mix(wide, floatBitsToUint(small), magnitude < 0x38800000u);
    return uintBitsToFloat(sign | wide);
}

//@function firn_round_bf16
// The nearest value of 8 bits of precision, ties to even; a nan becomes quiet.
float firn_round_bf16(float x) {
    uint bits = floatBitsToUint(x);
    uint wide = bits + 0x7fffu + ((bits >> 16) & 1u);
    wide = mix(wide, bits | 0x400000u, (bits & 0x7fffffffu) > 0x7f800000u);
    return uintBitsToFloat(wide & 0xffff0000u);
}

//@function firn_odd_f32_from_f64
// Of the two floats around x the one with an odd mantissa: rounded to fewer bits it gives what x at
// once gives. S. Boldo and G. Melquiond, "When double rounding is odd", 2005.
float firn_odd_f32_from_f64(double x) {
    float near = float(x);
    uint bits = floatBitsToUint(near);
    bits -= abs(double(near)) > abs(x) ? 1u : 0u;
    bits |= double(near) != x ? 1u : 0u;
    return x != x ? near : uintBitsToFloat(bits);
}

//@function firn_odd_f32_from_u32
float firn_odd_f32_from_u32(uint x) {
    uint odd = (x & 0xffffff00u) | ((x & 0xffu) != 0u ? 0x100u : 0u);
    return float(x < 0x1000000u ? x : odd);
}

//@function firn_odd_f32_from_i32 needs firn_odd_f32_from_u32
float firn_odd_f32_from_i32(int x) {
    float size = firn_odd_f32_from_u32(x < 0 ? 0u - uint(x) : uint(x));
    return x < 0 ? -size : size;
}

//@function firn_odd_f32_from_u64 needs firn_odd_f32_from_u32
float firn_odd_f32_from_u64(uint64_t x) {
    // 32 bits from the highest on; the lowest of them says whether any was lost.
    uint middle = uint(x >> 16) | ((x & 0xfffful) != 0ul ? 1u : 0u);
    uint upper = uint(x >> 32) | ((x & 0xfffffffful) != 0ul ? 1u : 0u);
    bool narrow = x < 0x100000000ul, wide = x >= 0x1000000000000ul;
    uint kept = narrow ? uint(x) : (wide ? upper : middle);
    return firn_odd_f32_from_u32(kept) * (narrow ? 1.0 : (wide ? 4294967296.0 : 65536.0));
}

//@function firn_odd_f32_from_i64 needs firn_odd_f32_from_u64
float firn_odd_f32_from_i64(int64_t x) {
    float size = firn_odd_f32_from_u64(x < 0l ? 0ul - uint64_t(x) : uint64_t(x));
    return x < 0l ? -size : size;
}

//@function firn_bits_of_f16
// Of a float that is a half; packHalf2x16 may make anything of infinity and nan.
uint firn_bits_of_f16(float x) {
    uint bits = floatBitsToUint(x);
    uint magnitude = bits & 0x7fffffffu;
    uint small = uint(uintBitsToFloat(magnitude) * 16777216.0);
    uint wide = (magnitude - 0x38000000u) >> 13;
    wide = mix(wide, small, magnitude < 0x38800000u);
    wide = mix(wide, 0x7c00u, magnitude >= 0x7f800000u);
    wide = mix(wide, 0x7e00u | ((magnitude >> 13) & 0x1ffu), magnitude > 0x7f800000u);
    return ((bits >> 16) & 0x8000u) | wide;
}

//@function firn_f16_of_bits
float firn_f16_of_bits(uint bits) { return unpackHalf2x16(bits).x; }

//@function firn_bits_of_bf16
uint firn_bits_of_bf16(float x) { return floatBitsToUint(x) >> 16; }

//@function firn_bf16_of_bits
float firn_bf16_of_bits(uint bits) { return uintBitsToFloat(bits << 16); }

//@function firn_sign_f32
float firn_sign_f32(float x) {
    float above = x > 0.0 ? 1.0 : 0.0;
    float value = x < 0.0 ? -1.0 : above;
    return x != x ? x : value;
}

//@function firn_sign_f64
double firn_sign_f64(double x) {
    double above = x > 0.0lf ? 1.0lf : 0.0lf;
    double value = x < 0.0lf ? -1.0lf : above;
    return x != x ? x : value;
}

//@function firn_sign_u32
uint firn_sign_u32(uint x) { return min(x, 1u); }

//@function firn_sign_i64
int64_t firn_sign_i64(int64_t x) {
    int64_t above = x > 0l ? 1l : 0l;
    return x < 0l ? -1l : above;
}

//@function firn_sign_u64
uint64_t firn_sign_u64(uint64_t x) { return x != 0ul ? 1ul : 0ul; }

//@function firn_abs_i64
int64_t firn_abs_i64(int64_t x) {
    int64_t negated = -x;
    return x < 0l ? negated : x;
}

//@function firn_frac_f32
float firn_frac_f32(float x) { return x - floor(x); }

//@function firn_frac_f64
double firn_frac_f64(double x) { return x - floor(x); }

//@function firn_plus_zero_f32
// Sums and products with a literal 0 work on bits: drivers fold them otherwise, and forget -0, inf and nan.
float firn_plus_zero_f32(float x) {
    uint bits = floatBitsToUint(x);
    return uintBitsToFloat(bits == 0x80000000u ? 0u : bits);
}

//@function firn_zero_minus_f32
float firn_zero_minus_f32(float x) {
    uint bits = floatBitsToUint(x);
    return uintBitsToFloat(mix(bits ^ 0x80000000u, 0u, bits == 0u));
}

//@function firn_times_zero_f32
float firn_times_zero_f32(float x) {
    uint bits = floatBitsToUint(x);
    bool finite = (bits & 0x7f800000u) != 0x7f800000u;
    return uintBitsToFloat(mix(0x7fc00000u, bits & 0x80000000u, finite));
}

//@function firn_zero_over_f32
float firn_zero_over_f32(float x) {
    uint bits = floatBitsToUint(x);
    return uintBitsToFloat(mix(bits & 0x80000000u, 0x7fc00000u, x != x || x == 0.0));
}

//@function firn_plus_zero_f64
double firn_plus_zero_f64(double x) {
    uvec2 bits = unpackDouble2x32(x);
    return packDouble2x32(bits == uvec2(0u, 0x80000000u) ? uvec2(0u) : bits);
}

//@function firn_zero_minus_f64
double firn_zero_minus_f64(double x) {
    uvec2 bits = unpackDouble2x32(x);
    return packDouble2x32(uvec2(bits.x, mix(bits.y ^ 0x80000000u, 0u, bits == uvec2(0u))));
}

//@function firn_times_zero_f64
double firn_times_zero_f64(double x) {
    uint high = unpackDouble2x32(x).y;
    bool finite = (high & 0x7ff00000u) != 0x7ff00000u;
    return packDouble2x32(uvec2(0u, mix(0x7ff80000u, high & 0x80000000u, finite)));
}

//@function firn_zero_over_f64
double firn_zero_over_f64(double x) {
    uint high = unpackDouble2x32(x).y;
    return packDouble2x32(uvec2(0u, mix(high & 0x80000000u, 0x7ff80000u, x != x || x == 0.0lf)));
}

//@function firn_rsqrt_f32
float firn_rsqrt_f32(float x) { return inversesqrt(x); }

//@function firn_rsqrt_f64
double firn_rsqrt_f64(double x) { return 1.0lf / sqrt(x); }

//@function firn_min_f32
// GLSL's own min may give nan where one operand is; this is NMin, which gives the other.
#extension GL_EXT_spirv_intrinsics : require
spirv_instruction(set = "GLSL.std.450", id = 79) float firn_min_f32(float a, float b);

//@function firn_max_f32
#extension GL_EXT_spirv_intrinsics : require
spirv_instruction(set = "GLSL.std.450", id = 80) float firn_max_f32(float a, float b);

//@function firn_min_f64
double firn_min_f64(double a, double b) {
    double least = a <= b ? a : b;
    return b != b ? a : least;
}

//@function firn_max_f64
double firn_max_f64(double a, double b) {
    double most = a >= b ? a : b;
    return b != b ? a : most;
}

//@function firn_div_f32
// For devices whose own division is off by some units in the last place, and 0 where b is beyond 2^126: what is left
// of a quotient is nearly exact in a fused multiply-add, and corrects it (Markstein 1990). Quotients that are numbers
// come out as such, others within 0.500001 units in the last place. Both are multiplied by the power of two that makes
// b about 1, so that nothing on the way leaves the range; below 2^-100 what is left may, and the quotient is off as the
// device's is, below 2^-125 it may be 0. No branch: where a kernel divides often it costs more than it saves.
float firn_div_f32(float a, float b) {
    int exponent = floatBitsToInt(b) & 0x7f800000;
    float scale = intBitsToFloat(max(0x7e800000 - exponent, 0x00800000));
    float x = a * scale;
    float y = b * scale;
    float inverse = 1.0 / y;
    precise float quotient = x * inverse;
    precise float rest = fma(-y, quotient, x);
    precise float value = fma(rest, inverse, quotient);
    // 0, infinity and nan are not corrected.
    return abs(value) > 0.0 ? value : quotient;
}

//@function firn_sqrt_f32
// For the same devices, the same way; a second look-up would cost as much as all the rest. Below 2^-100 it is as near
// as the device's.
float firn_sqrt_f32(float x) {
    float inverse = inversesqrt(x);
    precise float root = x * inverse;
    precise float rest = fma(-root, root, x);
    precise float value = fma(rest, 0.5 * inverse, root);
    // Infinity and nan are their own roots, as 0 is, which stands for what is below 2^-126; of what is below 0 the
    // inverse is nan, too.
    float zero = uintBitsToFloat(floatBitsToUint(x) & 0x80000000u);
    float special = x < 0.0 ? inverse : x;
    special = abs(x) < 1.17549435e-38 ? zero : special;
    return value < uintBitsToFloat(0x7f800000u) ? value : special;
}

//@function firn_begin_rest_f32
// Begins a long division of x, with the sign that it has beside y, by |y|: the mantissas of both, in [1, 2), that of y as
// `high` + `low` of 12 bits each; and `left`, how far their exponents are apart. A y that is subnormal may be read as 0.
void firn_begin_rest_f32(float x, float y, out float rest, out int left, out float high, out float low) {
    uint a = floatBitsToUint(x) ^ (floatBitsToUint(y) & 0x80000000u);
    int exponent = int((a & 0x7fffffffu) >> 23);
    rest = uintBitsToFloat((a & 0x807fffffu) | 0x3f800000u);
    // Subnormal numbers have no leading 1, and the exponent of those above them.
    float leading = uintBitsToFloat((a & 0x80000000u) | 0x3f800000u);
    rest = mix(rest, rest - leading, exponent == 0);
    bool subnormal = abs(y) < 1.17549435e-38;
    uint b = floatBitsToUint(abs(y) * mix(1.0, 16777216.0, subnormal));
    left = max(exponent, 1) - int(b >> 23) + mix(0, 24, subnormal);
    high = uintBitsToFloat((b & 0x007ff000u) | 0x3f800000u);
    low = uintBitsToFloat((b & 0x007fffffu) | 0x3f800000u) - high;
}

//@function firn_less_multiple_f32
// x - quotient * (high + low), exact for whole quotients of up to 21 bits that leave less than a divisor: the quotient is
// split as the divisor is, so that the products are exact, and none of the differences has more than 24 bits.
float firn_less_multiple_f32(float x, float quotient, float high, float low) {
    float upper = uintBitsToFloat(floatBitsToUint(quotient) & 0xfffff000u);
    float lower = quotient - upper;
    precise float first = x - upper * high;
    precise float second = first - upper * low;
    precise float third = second - lower * high;
    precise float rest = third - lower * low;
    return rest;
}

//@function firn_rest_step_f32 needs firn_less_multiple_f32
// One step of a long division: `rest` times up to 2^20, less the multiple of the divisor that is nearest. The quotient is
// off by 3/8 at most, where the inverse is by 2.5 units in the last place: less than a divisor is left.
void firn_rest_step_f32(inout float rest, inout int left, float high, float low, float inverse) {
    float wide = rest * intBitsToFloat((clamp(left, 0, 20) + 127) << 23);
    rest = firn_less_multiple_f32(wide, roundEven(wide * inverse), high, low);
    left -= 20;
}

//@function firn_end_rest_f32
// What is left of a long division as the remainder of x by y: with the sign of y, 0 too. `left` is the distance of their
// exponents before the division.
float firn_end_rest_f32(float x, float y, float rest, int left) {
    uint sign = floatBitsToUint(y) & 0x80000000u;
    float size = abs(y);
    bool subnormal = size < 1.17549435e-38;
    uint b = floatBitsToUint(size * mix(1.0, 16777216.0, subnormal));
    float factor = uintBitsToFloat((b & 0x007fffffu) | 0x3f800000u);
    float unit = uintBitsToFloat(b & 0x7f800000u);
    float above = (rest + mix(0.0, factor, rest < 0.0)) * unit * mix(1.0, 5.9604645e-8, subnormal);
    float small = uintBitsToFloat(floatBitsToUint(x) ^ sign);
    above = mix(above, small + mix(0.0, size, small < 0.0), left < 0);
    bool is_nan = any(bvec2(floatBitsToUint(size) > 0x7f800000u, floatBitsToUint(size) == 0u));
    precise float none = x - x;
    above = above + (none + mix(0.0, uintBitsToFloat(0x7fc00000u), is_nan));
    return uintBitsToFloat(floatBitsToUint(above) | sign);
}

//@function firn_mod_f32 needs firn_begin_rest_f32 firn_rest_step_f32 firn_end_rest_f32
// numpy's remainder: exact, but for one rounding where x is smaller than y and has the other sign. A quotient below
// 2^20 takes one step, the largest 14.
float firn_mod_f32(float x, float y) {
    float rest, high, low;
    int before;
    firn_begin_rest_f32(x, y, rest, before, high, low);
    float inverse = 1.0 / (high + low);
    int left = before;
    do firn_rest_step_f32(rest, left, high, low, inverse);
    while (left > 0);
    return firn_end_rest_f32(x, y, rest, before);
}

//@function firn_mod_in_steps_f32 needs firn_begin_rest_f32 firn_rest_step_f32 firn_end_rest_f32
// The same without a loop, for kernels whose own take all back edges that a driver allows.
#extension GL_EXT_control_flow_attributes : enable
float firn_mod_in_steps_f32(float x, float y) {
    float rest, high, low;
    int before;
    firn_begin_rest_f32(x, y, rest, before, high, low);
    float inverse = 1.0 / (high + low);
    int left = before;
    [[unroll]] for (int k = 0; k < 14; ++k) firn_rest_step_f32(rest, left, high, low, inverse);
    return firn_end_rest_f32(x, y, rest, before);
}

//@function firn_near_step_f32 needs firn_less_multiple_f32
// One step of a long division by y in [2^-60, 2^60], on the numbers themselves: by y times a power of two, 2^20 below the
// rest at most. `left` is that power, in the exponent's place, and 0 for infinity and nan, of which nan is left.
void firn_near_step_f32(inout float rest, out int left, float y, float inverse) {
    int exponent = (floatBitsToInt(rest) + 0x00800000) & 0x7f800000;
    left = max(exponent - (floatBitsToInt(y) & 0x7f800000) - 20 * 0x00800000, 0);
    float by = intBitsToFloat(floatBitsToInt(y) + left);
    float high = uintBitsToFloat(floatBitsToUint(by) & 0xfffff000u);
    float quotient = roundEven(rest * intBitsToFloat(floatBitsToInt(inverse) - left));
    rest = firn_less_multiple_f32(rest, quotient, high, by - high);
}

//@function firn_mod_near_f32 needs firn_near_step_f32
// The remainder by y in [2^-60, 2^60], in 10 steps at most.
float firn_mod_near_f32(float x, float y) {
    float rest = x;
    float inverse = 1.0 / y;
    int left;
    do firn_near_step_f32(rest, left, y, inverse);
    while (left > 0);
    return rest + mix(0.0, y, rest < 0.0);
}

//@function firn_mod_near_in_steps_f32 needs firn_near_step_f32
#extension GL_EXT_control_flow_attributes : enable
float firn_mod_near_in_steps_f32(float x, float y) {
    float rest = x;
    float inverse = 1.0 / y;
    int left;
    [[unroll]] for (int k = 0; k < 10; ++k) firn_near_step_f32(rest, left, y, inverse);
    return rest + mix(0.0, y, rest < 0.0);
}

//@function firn_mod_of_few_f32
// For y in [2^-60, 2^60] and |x| <= 2^11 y, which needs no loop.
float firn_mod_of_few_f32(float x, float y) {
    float high = uintBitsToFloat(floatBitsToUint(y) & 0xfffff000u);
    float low = y - high;
    float quotient = roundEven(x * (1.0 / y));
    precise float part = x - quotient * high;
    precise float rest = part - quotient * low;
    return rest + mix(0.0, y, rest < 0.0);
}

//@function firn_mod_by_f32
// For y a power of two above 0: every step is exact but the last, of x below 0. Of a quotient beyond 2^24 nothing is
// left, and one that is flushed is below 0 all the same.
float firn_mod_by_f32(float x, float y) {
    float quotient = x / y;
    precise float whole = mix(x, y * floor(quotient), abs(quotient) < 16777216.0);
    precise float rest = x - whole;
    return mix(rest, rest + y, rest < 0.0);
}

//@function firn_begin_rest_f64
// As of f32, of |x|; the divisor's mantissa as 27 bits and 26.
void firn_begin_rest_f64(double x, double y, out double rest, out int left, out double high, out double low) {
    uvec2 a = unpackDouble2x32(x);
    int exponent = int((a.y & 0x7fffffffu) >> 20);
    rest = packDouble2x32(uvec2(a.x, (a.y & 0x000fffffu) | 0x3ff00000u));
    rest = exponent == 0 ? rest - 1.0lf : rest;
    bool subnormal = abs(y) < 2.2250738585072014e-308lf;
    uvec2 b = unpackDouble2x32(abs(y) * (subnormal ? 18014398509481984.0lf : 1.0lf));
    left = max(exponent, 1) - int(b.y >> 20) + (subnormal ? 54 : 0);
    uvec2 factor = uvec2(b.x, (b.y & 0x000fffffu) | 0x3ff00000u);
    high = packDouble2x32(uvec2(factor.x & 0xfc000000u, factor.y));
    low = packDouble2x32(factor) - high;
}

//@function firn_rest_step_f64
// As of f32, by up to 2^24: products of 25 and 27 bits, and of 25 and 26.
void firn_rest_step_f64(inout double rest, inout int left, double high, double low, double inverse) {
    double wide = rest * packDouble2x32(uvec2(0u, uint(clamp(left, 0, 24) + 1023) << 20));
    precise double shifted = wide * inverse + 6755399441055744.0lf;
    precise double quotient = shifted - 6755399441055744.0lf;
    precise double part = wide - quotient * high;
    precise double next = part - quotient * low;
    rest = next;
    left -= 24;
}

//@function firn_end_rest_f64
double firn_end_rest_f64(double x, double y, double rest, int left) {
    uvec2 a = unpackDouble2x32(x);
    uvec2 b = unpackDouble2x32(y);
    uint sign = b.y & 0x80000000u;
    bool opposite = ((a.y ^ b.y) >> 31) != 0u;
    double size = abs(y);
    b.y ^= sign;
    bool nan = b.y > 0x7ff00000u || (b.y == 0x7ff00000u && b.x != 0u) || (b.x | b.y) == 0u;
    bool subnormal = size < 2.2250738585072014e-308lf;
    b = unpackDouble2x32(size * (subnormal ? 18014398509481984.0lf : 1.0lf));
    double factor = packDouble2x32(uvec2(b.x, (b.y & 0x000fffffu) | 0x3ff00000u));
    double above = rest < 0.0lf ? rest + factor : rest;
    above = above * packDouble2x32(uvec2(0u, b.y & 0x7ff00000u));
    above = above * (subnormal ? 5.5511151231257827e-17lf : 1.0lf);
    above = left < 0 ? abs(x) : above;
    double other = size - above;
    bool turned = all(bvec2(opposite, above > 0.0lf));
    above = turned ? other : above;
    uvec2 bits = unpackDouble2x32(above);
    bits.y |= sign;
    return packDouble2x32(mix(bits, uvec2(0u, 0x7ff80000u), bvec2(nan || (a.y & 0x7fffffffu) >= 0x7ff00000u)));
}

//@function firn_mod_f64 needs firn_begin_rest_f64 firn_rest_step_f64 firn_end_rest_f64
// As firn_mod_f32, the largest quotient in 88 steps.
double firn_mod_f64(double x, double y) {
    double rest, high, low;
    int before;
    firn_begin_rest_f64(x, y, rest, before, high, low);
    double inverse = 1.0lf / (high + low);
    int left = before;
    do firn_rest_step_f64(rest, left, high, low, inverse);
    while (left > 0);
    return firn_end_rest_f64(x, y, rest, before);
}

//@function firn_mod_in_steps_f64 needs firn_begin_rest_f64 firn_rest_step_f64 firn_end_rest_f64
#extension GL_EXT_control_flow_attributes : enable
double firn_mod_in_steps_f64(double x, double y) {
    double rest, high, low;
    int before;
    firn_begin_rest_f64(x, y, rest, before, high, low);
    double inverse = 1.0lf / (high + low);
    int left = before;
    [[unroll]] for (int k = 0; k < 88; ++k) firn_rest_step_f64(rest, left, high, low, inverse);
    return firn_end_rest_f64(x, y, rest, before);
}

//@function firn_div_i32
// Truncates; x / 0 is 0, and the smallest value / -1 wraps without a trap.
int firn_div_i32(int a, int b) {
    bool special = b == 0 || b == -1;
    int divisor = special ? 1 : b;
    int quotient = a / divisor;
    int wrapped = mix(-a, 0, b == 0);
    return special ? wrapped : quotient;
}

//@function firn_div_u32
uint firn_div_u32(uint a, uint b) {
    uint divisor = b == 0u ? 1u : b;
    uint quotient = a / divisor;
    return b == 0u ? 0u : quotient;
}

//@function firn_div_i64
int64_t firn_div_i64(int64_t a, int64_t b) {
    bool special = b == 0l || b == -1l;
    int64_t divisor = special ? 1l : b;
    int64_t quotient = a / divisor;
    int64_t negated = -a;
    int64_t wrapped = b == 0l ? 0l : negated;
    return special ? wrapped : quotient;
}

//@function firn_div_u64
uint64_t firn_div_u64(uint64_t a, uint64_t b) {
    uint64_t divisor = b == 0ul ? 1ul : b;
    uint64_t quotient = a / divisor;
    return b == 0ul ? 0ul : quotient;
}

//@function firn_mod_i32
// The remainder of the truncating division, with the sign of a; x % 0 is 0.
int firn_mod_i32(int a, int b) {
    bool special = b == 0 || b == -1;
    int divisor = special ? 1 : b;
    return a - a / divisor * divisor;
}

//@function firn_mod_u32
uint firn_mod_u32(uint a, uint b) {
    uint divisor = b == 0u ? 1u : b;
    return a % divisor;
}

//@function firn_mod_i64
int64_t firn_mod_i64(int64_t a, int64_t b) {
    bool special = b == 0l || b == -1l;
    int64_t divisor = special ? 1l : b;
    return a - a / divisor * divisor;
}

//@function firn_mod_u64
uint64_t firn_mod_u64(uint64_t a, uint64_t b) {
    uint64_t divisor = b == 0ul ? 1ul : b;
    return a % divisor;
}

//@function firn_pow_step_u32
void firn_pow_step_u32(inout uint result, inout uint factor, inout uint exponent) {
    result *= (exponent & 1u) != 0u ? factor : 1u;
    factor *= factor;
    exponent >>= 1;
}

//@function firn_pow_u32 needs firn_pow_step_u32
// Repeated squaring, modulo 2^32. The multiplicative group of odd numbers repeats after 2^30, and a
// power of an even number with an exponent of 32 or more is 0.
uint firn_pow_u32(uint base, uint exponent) {
    uint result = 1u;
    uint factor = base;
    uint left = exponent;
    for (int k = 0; k < 32; ++k) firn_pow_step_u32(result, factor, left);
    return result;
}

//@function firn_pow_i32 needs firn_pow_u32
// A negative exponent gives 0, but for the bases 1 and -1.
int firn_pow_i32(int base, int exponent) {
    int power = int(firn_pow_u32(uint(base), uint(exponent)));
    int unit = (exponent & 1) != 0 ? -1 : 1;
    int inverse = base == -1 ? unit : 0;
    inverse = base == 1 ? 1 : inverse;
    return exponent < 0 ? inverse : power;
}

//@function firn_pow_step_u64
void firn_pow_step_u64(inout uint64_t result, inout uint64_t factor, inout uint64_t exponent) {
    result *= (exponent & 1ul) != 0ul ? factor : 1ul;
    factor *= factor;
    exponent >>= 1;
}

//@function firn_pow_u64 needs firn_pow_step_u64
uint64_t firn_pow_u64(uint64_t base, uint64_t exponent) {
    uint64_t result = 1ul;
    uint64_t factor = base;
    uint64_t left = exponent;
    for (int k = 0; k < 32; ++k) firn_pow_step_u64(result, factor, left);
    for (int k = 0; k < 32; ++k) firn_pow_step_u64(result, factor, left);
    return result;
}

//@function firn_pow_i64 needs firn_pow_u64
int64_t firn_pow_i64(int64_t base, int64_t exponent) {
    int64_t power = int64_t(firn_pow_u64(uint64_t(base), uint64_t(exponent)));
    int64_t unit = (exponent & 1l) != 0l ? -1l : 1l;
    int64_t inverse = base == -1l ? unit : 0l;
    inverse = base == 1l ? 1l : inverse;
    return exponent < 0l ? inverse : power;
}

//@function firn_reverse_bits_i32
int firn_reverse_bits_i32(int x) { return bitfieldReverse(x); }

//@function firn_reverse_bits_u32
uint firn_reverse_bits_u32(uint x) { return bitfieldReverse(x); }

//@function firn_reverse_bits_i8
int firn_reverse_bits_i8(int x) { return bitfieldReverse(x) >> 24; }

//@function firn_reverse_bits_u8
uint firn_reverse_bits_u8(uint x) { return bitfieldReverse(x) >> 24; }

//@function firn_reverse_bits_i16
int firn_reverse_bits_i16(int x) { return bitfieldReverse(x) >> 16; }

//@function firn_reverse_bits_u16
uint firn_reverse_bits_u16(uint x) { return bitfieldReverse(x) >> 16; }

//@function firn_reverse_bits_u64
uint64_t firn_reverse_bits_u64(uint64_t x) {
    uint low = bitfieldReverse(uint(x));
    uint high = bitfieldReverse(uint(x >> 32));
    return (uint64_t(low) << 32) | uint64_t(high);
}

//@function firn_reverse_bits_i64 needs firn_reverse_bits_u64
int64_t firn_reverse_bits_i64(int64_t x) { return int64_t(firn_reverse_bits_u64(uint64_t(x))); }

//@function firn_i64_from_words
// Widens x to 64 bits without a conversion.
int64_t firn_i64_from_words(int x) { return packInt2x32(ivec2(x, x >> 31)); }

//@function firn_f32_from_u32
// Halves are exact as floats, and their sum is rounded once: a driver that converts numbers above 2^31 by itself may
// round twice.
float firn_f32_from_u32(uint x) {
    precise float high = float(int(x >> 16)) * 65536.0;
    precise float sum = high + float(int(x & 0xffffu));
    return sum;
}

//@function firn_i32_from_f32
// Saturates; nan is 0.
int firn_i32_from_f32(float x) {
    int value = int(clamp(x, -2147483648.0, 2147483520.0));
    value = x >= 2147483648.0 ? 2147483647 : value;
    return x != x ? 0 : value;
}

//@function firn_u32_from_f32
uint firn_u32_from_f32(float x) {
    uint value = uint(clamp(x, 0.0, 4294967040.0));
    value = x >= 4294967296.0 ? 4294967295u : value;
    return x != x ? 0u : value;
}

//@function firn_i64_from_f32
int64_t firn_i64_from_f32(float x) {
    int64_t value = int64_t(clamp(x, -9223372036854775808.0, 9223371487098961920.0));
    value = x >= 9223372036854775808.0 ? 9223372036854775807l : value;
    return x != x ? 0l : value;
}

//@function firn_u64_from_f32
uint64_t firn_u64_from_f32(float x) {
    uint64_t value = uint64_t(clamp(x, 0.0, 18446742974197923840.0));
    value = x >= 18446744073709551616.0 ? 18446744073709551615ul : value;
    return x != x ? 0ul : value;
}

//@function firn_i32_from_f64
int firn_i32_from_f64(double x) {
    int value = int(clamp(x, -2147483648.0lf, 2147483647.0lf));
    return x != x ? 0 : value;
}

//@function firn_u32_from_f64
uint firn_u32_from_f64(double x) {
    uint value = uint(clamp(x, 0.0lf, 4294967295.0lf));
    return x != x ? 0u : value;
}

//@function firn_i64_from_f64
int64_t firn_i64_from_f64(double x) {
    int64_t value = int64_t(clamp(x, -9223372036854775808.0lf, 9223372036854774784.0lf));
    value = x >= 9223372036854775808.0lf ? 9223372036854775807l : value;
    return x != x ? 0l : value;
}

//@function firn_u64_from_f64
uint64_t firn_u64_from_f64(double x) {
    uint64_t value = uint64_t(clamp(x, 0.0lf, 18446744073709549568.0lf));
    value = x >= 18446744073709551616.0lf ? 18446744073709551615ul : value;
    return x != x ? 0ul : value;
}
