// Formulas that keep their digits near 0, and do not overflow on the way.
#include "compiler/algorithms/elementwise.h"

#include <cmath>
#include <limits>

#include "compiler/algorithms/real.h"
#include "compiler/frontend/apply.h"
#include "compiler/frontend/line_scope.h"

namespace firn {
namespace {

constexpr double kPi = 3.14159265358979323846, kLog2 = 0.69314718055994530942;
/// From here on x + 1 is x in f32, and x x would soon overflow.
constexpr float kLarge = 1e9f;

/// f of |x| with the sign of x; x itself where it is 0.
Tensor odd(const Tensor& x, const Tensor& of_magnitude) {
    return select(x == 0, x, select(x < 0, -of_magnitude, of_magnitude));
}

/// Whether the sign bit is set.
Tensor is_negative(const Tensor& x) {
    if (x.dtype() == f64) return bitcast(x, i64) < 0;
    return bitcast(x.as(f32), i32) < 0;
}

double largest_of(DType type) {
    if (type == f64) return std::numeric_limits<double>::max();
    if (type == bf16) return 0xffp120;
    return type == f16 ? 65504.0 : static_cast<double>(std::numeric_limits<float>::max());
}

}  // namespace

Tensor asinh(const Operand& x) {
    LineScope at(x.line());
    const Tensor own = x.tensor(), wide = as_wide(own), size = abs(wide);
    const Tensor a = min(size, kLarge), square = a * a;
    const Tensor small = log1p(a + square / (1.0f + sqrt(1.0f + square)));
    const Tensor out = select(size > kLarge, log(size) + kLog2, small);
    return odd(wide, select(is_nan(wide), wide, out)).as(real_type(own.dtype()));
}

Tensor acosh(const Operand& x) {
    LineScope at(x.line());
    const Tensor own = x.tensor(), wide = as_wide(own), t = min(wide, kLarge) - 1.0f;
    const Tensor small = log1p(t + sqrt(t) * sqrt(t + 2.0f));
    Tensor out = select(wide > kLarge, log(wide) + kLog2, small);
    return select(wide >= 1.0f, out, std::nanf("")).as(real_type(own.dtype()));
}

Tensor atanh(const Operand& x) {
    LineScope at(x.line());
    const Tensor own = x.tensor(), wide = as_wide(own), size = abs(wide);
    const Tensor out = 0.5f * log1p(2.0f * size / (1.0f - size));
    return odd(wide, select(size <= 1.0f, out, std::nanf(""))).as(real_type(own.dtype()));
}

Tensor cbrt(const Operand& x) {
    LineScope at(x.line());
    const Tensor own = x.tensor(), wide = as_wide(own), size = abs(wide);
    const Tensor first = exp2(log2(size) / 3.0f);
    // One step of Newton's method.
    const Tensor root = first - (first - size / (first * first)) / 3.0f;
    return odd(wide, select(is_inf(size), size, root)).as(real_type(own.dtype()));
}

Tensor is_finite(const Operand& x) {
    LineScope at(x.line());
    return !(is_nan(x) | is_inf(x));
}

Tensor deg2rad(const Operand& x) {
    LineScope at(x.line());
    return (as_wide(x.tensor()) * (kPi / 180)).as(real_type(x.tensor().dtype()));
}

Tensor rad2deg(const Operand& x) {
    LineScope at(x.line());
    return (as_wide(x.tensor()) * (180 / kPi)).as(real_type(x.tensor().dtype()));
}

Tensor sinc(const Operand& x) {
    LineScope at(x.line());
    const Tensor own = x.tensor(), wide = as_wide(own);
    // The sine of the rest of whole turns keeps its digits where x is large.
    const Tensor turns = wide - 2.0f * round(wide * 0.5f);
    const Tensor out = sin(turns * kPi) / (select(wide == 0, 1, wide) * kPi);
    return select(wide == 0, 1, out).as(real_type(own.dtype()));
}

Tensor nan_to_num(const Operand& x, const NanToNumOptions& options) {
    LineScope at(x.line());
    const Tensor own = x.tensor();
    if (!own.dtype().is_float()) return own;
    const double largest = largest_of(own.dtype());
    const double above = options.posinf.value_or(largest),
                 below = options.neginf.value_or(-largest);
    const Tensor finite = select(is_inf(own) & (own > 0), above, select(is_inf(own), below, own));
    return select(is_nan(own), options.nan, finite);
}

Tensor heaviside_of(const Arg& x, const Arg& h0) {
    LineScope at(x.line());
    const std::vector<Tensor> in = meet_as_floats({x, h0});
    const Tensor step = select(in[0] < 0, 0, select(in[0] == 0, in[1], 1));
    return select(is_nan(in[0]), in[0], step);
}

Tensor copysign_of(const Arg& x, const Arg& sign) {
    LineScope at(x.line());
    const std::vector<Tensor> in = meet_as_floats({x, sign});
    const Tensor size = abs(in[0]);
    return select(is_negative(in[1]), -size, size);
}

}  // namespace firn
