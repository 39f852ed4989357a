// Formulas that keep their digits near 0, and do not overflow on the way.
#include "compiler/algorithms/elementwise.h"

#include <cmath>
#include <limits>

#include "compiler/algorithms/real.h"
#include "compiler/frontend/apply.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/slope.h"

namespace firn {
namespace {

constexpr double kPi = 3.14159265358979323846, kLog2 = 0.69314718055994530942;
/// From here on x + 1 is x in f32, and x x would soon overflow.
constexpr float kLarge = 1e9f;

/// f of |x| with the sign of x; x itself where it is 0.
Tensor odd(const Tensor& x, const Tensor& of_magnitude) {
    return select(x == 0, x, select(x < 0, -of_magnitude, of_magnitude));
}

/// Returns whether the sign bit is set.
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
    // The slope is 1 / sqrt(1 + x x); its square would overflow for large x.
    return with_slope(odd(wide, select(is_nan(wide), wide, out)), wide,
                      [](const Tensor& x, const Tensor&) {
                          const Tensor size = abs(x);
                          return select(size > kLarge, rcp(size), rsqrt(1.0f + x * x));
                      })
        .as(real_type(own.dtype()));
}

Tensor acosh(const Operand& x) {
    LineScope at(x.line());
    const Tensor own = x.tensor(), wide = as_wide(own), t = min(wide, kLarge) - 1.0f;
    const Tensor small = log1p(t + sqrt(t) * sqrt(t + 2.0f));
    Tensor out = select(wide > kLarge, log(wide) + kLog2, small);
    return with_slope(
               select(wide >= 1.0f, out, std::nanf("")), wide,
               [](const Tensor& x, const Tensor&) { return rsqrt(x - 1.0f) * rsqrt(x + 1.0f); })
        .as(real_type(own.dtype()));
}

Tensor atanh(const Operand& x) {
    LineScope at(x.line());
    const Tensor own = x.tensor(), wide = as_wide(own), size = abs(wide);
    const Tensor out = 0.5f * log1p(2.0f * size / (1.0f - size));
    return with_slope(odd(wide, select(size <= 1.0f, out, std::nanf(""))), wide,
                      [](const Tensor& x, const Tensor&) { return rcp((1.0f - x) * (1.0f + x)); })
        .as(real_type(own.dtype()));
}

Tensor cbrt(const Operand& x) {
    LineScope at(x.line());
    const Tensor own = x.tensor(), wide = as_wide(own), size = abs(wide);
    const Tensor first = exp2(log2(size) / 3.0f);
    // A step of Newton's method.
    const Tensor root = first - (first - size / (first * first)) / 3.0f;
    return with_slope(odd(wide, select(is_inf(size), size, root)), wide,
                      [](const Tensor&, const Tensor& y) { return rcp(3.0f * (y * y)); })
        .as(real_type(own.dtype()));
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

/// x = whole + part, part within half of 0: sin(pi x) is sin(pi part), and cos(pi x) cos(pi part),
/// with another sign where `whole` is odd.
struct Turns {
    Tensor part, is_odd;
    explicit Turns(const Tensor& x) {
        const Tensor whole = round(x), half = whole * 0.5f;
        part = x - whole;
        is_odd = floor(half) != half;
    }
    Tensor sine() const { return signed_by(sin(part * kPi)); }
    /// Computes the cosine as a sine of the distance to a quarter turn, which is exactly 0 where
    /// the cosine is.
    Tensor cosine() const { return signed_by(sin((0.5f - abs(part)) * kPi)); }
    Tensor signed_by(const Tensor& y) const { return select(is_odd, -y, y); }
};

/// The derivative of sin(u) / u for u = pi x: a power series where |x| < 0.4; the quotient rule
/// cancels only there.
Tensor slope_of_sinc(const Tensor& x, const Tensor& y) {
    const Tensor u = x * kPi, z = u * u;
    constexpr int kTerms = 11;
    double factorial = 1;
    std::vector<double> terms;
    for (int k = 1; k <= kTerms; ++k) {
        factorial *= 2.0 * k * (2.0 * k + 1);
        terms.push_back((k % 2 ? -2.0 : 2.0) * k / factorial);
    }
    Tensor near = z * 0.0f + terms.back();
    for (int k = kTerms - 2; k >= 0; --k) near = near * z + terms[size_t(k)];
    const Tensor is_near = abs(x) < 0.4f;
    const Tensor far = (Turns(x).cosine() - y) / select(is_near, 1.0f, x);
    return select(is_near, kPi * (near * u), far);
}

Tensor sinc(const Operand& x) {
    LineScope at(x.line());
    const Tensor own = x.tensor(), wide = as_wide(own);
    const Tensor out = Turns(wide).sine() / (select(wide == 0, 1, wide) * kPi);
    return with_slope(select(wide == 0, 1, out), wide, slope_of_sinc).as(real_type(own.dtype()));
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
