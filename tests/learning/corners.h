// Functions of elements at points over the whole range of a type, against long doubles.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "compiler/language.h"
#include "compiler/learning/learning.h"

namespace firn {
namespace corners {

constexpr long double kLn2 = 0.693147180559945309417232121458L, kLn10 = 2.30258509299404568402L,
                      kPi = 3.14159265358979323846264338328L,
                      kTwoOverRootPi = 1.12837916709551257389615890312L;

inline long double sign_of(long double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
inline long double logistic_of(long double x) { return 1 / (1 + expl(-x)); }
inline long double squared_sech(long double x) {
    const long double e = expl(-2 * fabsl(x));
    return 4 * e / ((1 + e) * (1 + e));
}
inline long double slope_of_cbrt(long double x) {
    const long double root = cbrtl(x);
    return 1 / (3 * root * root);
}
/// Returns sin(pi x) or cos(pi x), from the remainder of whole half turns.
inline long double of_turns(long double x, long double (*f)(long double)) {
    const long double whole = rintl(x);
    return f(kPi * (x - whole)) * (fmodl(whole, 2) == 0 ? 1 : -1);
}
inline long double sinc_of(long double x) { return x == 0 ? 1 : of_turns(x, sinl) / (kPi * x); }
inline long double slope_of_sinc(long double x) {
    const long double u = kPi * x, z = u * u;
    if (fabsl(u) < 0.01L)
        return kPi * u * (-1 / 3.0L + z * (1 / 30.0L + z * (-1 / 840.0L + z / 45360)));
    return (of_turns(x, cosl) - sinc_of(x)) / x;
}
inline long double normal_cdf_of(long double x) { return erfcl(-x * sqrtl(0.5L)) / 2; }
inline long double density_of(long double x) {
    return expl(-x * x / 2) * kTwoOverRootPi * sqrtl(0.125L);
}
inline long double softplus_of(long double x) { return fmaxl(x, 0) + log1pl(expl(-fabsl(x))); }
/// Infinite terms times 0 are no number, as in torch.
inline long double right_logit_of(long double x) { return x == INFINITY ? NAN : softplus_of(-x); }
inline long double slope_of_mish(long double x) {
    const long double s = softplus_of(x);
    return tanhl(s) + x * squared_sech(s) * logistic_of(x);
}
inline long double hardswish_of(long double x) {
    return x * (x < -3 ? 0 : x > 3 ? 1 : (x + 3) / 6);
}
inline long double huber_of(long double x) { return fabsl(x) <= 1 ? x * x / 2 : fabsl(x) - 0.5L; }
inline long double slope_of_pow(long double x, long double y) {
    if (x < 0 && fabsl(y) > 0x1p63L) return -y * powl(-x, y - 1);  // the exponent is odd
    return y == 0 ? 0 : y * powl(x, y - 1);
}
inline long double slope_by_exponent(long double x, long double y) {
    const long double power = powl(x, y);
    return x >= 0 && (power == 0 || (x == 0 && y == 0)) ? 0 : power * logl(x);
}
inline long double slope_of_rsqrt(long double x) {
    const long double root = 1 / sqrtl(x);
    return -0.5L * root * root * root;
}
inline long double slope_of_angle(long double a, long double b) {
    if (std::isnan(a) || std::isnan(b)) return NAN;
    if ((a == 0 && b == 0) || std::isinf(a) || std::isinf(b)) return 0;
    return b / (a * a + b * b);
}
inline long double slope_of_length(long double a, long double b) {
    if (a == 0 && b == 0) return 0;
    if (std::isinf(a)) return sign_of(a);
    return a / hypotl(a, b);
}
inline long double log_of_sum(long double a, long double b) {
    return a == b ? a + kLn2 : fmaxl(a, b) + log1pl(expl(-fabsl(a - b)));
}
inline long double share_of(long double a, long double b) {
    return a == b ? 0.5L : logistic_of(a - b);
}

/// The logarithm of a probability, as binary_cross_entropy takes it.
inline long double log_of_probability(long double p) {
    return p >= 0 && p <= 1 ? fmaxl(logl(p), -100) : NAN;
}
inline long double slope_of_probability(long double p) {
    if (!(p >= 0 && p <= 1)) return NAN;
    return logl(p) < -100 ? 0 : 1 / p;
}
inline long double log_of_complement(long double p) {
    return p >= 0 && p <= 1 ? fmaxl(log1pl(-p), -100) : NAN;
}
inline long double slope_of_complement(long double p) {
    if (!(p >= 0 && p <= 1)) return NAN;
    return p == 1 ? 0 : 1 / (1 - p);
}
/// kl_div, which sums up, of each element.
inline Tensor divergence_of(const Tensor& logarithms, const Tensor& targets) {
    const auto row = [](const Tensor& x) { return unsqueeze(x, 1); };
    return vmap([](const std::vector<Tensor>& x) { return kl_div(x[0], x[1]); },
                {row(logarithms), row(targets)});
}

using Formula = long double (*)(long double x, long double y);
/// Largest errors in units of the last place: of values and of derivatives. For a negative one the
/// unit is that of 1, or of the largest operand, if that is larger.
struct Bounds {
    double value64, value32, value16, slope64, slope32, slope16;
    double value(DType type) const {
        return type == f64 ? value64 : type == f32 ? value32 : value16;
    }
    double slope(DType type) const {
        return type == f64 ? slope64 : type == f32 ? slope32 : slope16;
    }
};
struct Row {
    const char* name;
    Tensor (*f)(const Tensor& x, const Tensor& y);
    Formula value, by_x, by_y;  ///< by_y: null for functions of x alone
    Bounds bounds;
};
inline std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }

#define FIRN_FORMULA(text) \
    [](long double x, long double y) -> long double { return (void)y, (void)x, text; }
#define FIRN_TENSOR(text) [](const Tensor& x, const Tensor& y) -> Tensor { return (void)y, text; }
#define ONE(name, f, value, slope, ...) \
    {#name, FIRN_TENSOR(f), FIRN_FORMULA(value), FIRN_FORMULA(slope), nullptr, __VA_ARGS__},
#define TWO(name, f, value, by_x, by_y, ...)                                                  \
    {#name,      FIRN_TENSOR(f), FIRN_FORMULA(value), FIRN_FORMULA(by_x), FIRN_FORMULA(by_y), \
     __VA_ARGS__},
const Row kRows[] = {
#include "tests/learning/corner_rows.def"
};
#undef FIRN_FORMULA
#undef FIRN_TENSOR

struct Format {
    int digits, least, most;  ///< of the significand; exponents of the least number and of overflow
};
inline Format format_of(DType type) {
    if (type == f64) return {53, -1074, 1024};
    if (type == f16) return {11, -24, 16};
    if (type == bf16) return {8, -133, 128};
    return {24, -149, 128};
}

/// Every sign and exponent, 0, infinities and nan, the moderate, and the neighbours of 1, 1/2
/// and 3. corners_expected.py makes the same of f64.
inline std::vector<double> points(DType type) {
    const Format format = format_of(type);
    std::vector<double> out{0.0, -0.0, INFINITY, -INFINITY, NAN};
    const double least = std::ldexp(1.0, format.least),
                 normal = std::ldexp(1.0, format.least + format.digits - 1),
                 most = std::ldexp(2.0 - std::ldexp(1.0, 1 - format.digits), format.most - 1);
    for (double each : {least, normal, most, 1.0, 0.5, 2.0, 3.0, 6.0})
        for (double sign : {1.0, -1.0}) out.push_back(sign * each);
    uint32_t state = 12345;
    const auto next = [&] { return state = state * 1664525u + 1013904223u; };
    const int span = format.most - format.least;
    for (int k = 0; k < 160; ++k) {
        const double sign = next() >> 31 ? -1.0 : 1.0;
        const double significand = 1.0 + std::ldexp(double(next()), -32);
        out.push_back(sign * std::ldexp(significand, format.least + k * span / 160));
    }
    for (int k = 0; k < 160; ++k) {
        const double scale[] = {1, 4, 20, k % 8 < 4 ? 100.0 : 800.0};
        out.push_back((std::ldexp(double(next()), -31) - 1.0) * scale[k % 4]);
    }
    for (double centre : {1.0, -1.0, 0.5, 3.0})
        for (int bits : {3, 6, 9, 12, 16, 20, 30})
            for (double sign : {1.0, -1.0})
                out.push_back(centre * (1.0 + sign * std::ldexp(1.0, -bits)));
    for (double& each : out) each = scalar_float(each, type).f;
    return out;
}
/// Returns a second operand for each point, every other one moderate.
inline std::vector<double> partners(const std::vector<double>& x) {
    std::vector<double> out(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
        out[i] = x[(i * 7919 + 13) % x.size()];
        if (i % 2) out[i] = std::remainder(out[i], 40.0);
        if (i % 16 == 3) out[i] = x[i];
    }
    return out;
}

/// Returns the error in units of the last place of `exact`, or of `scale` if that is larger,
/// infinite if only one is nan or they are of different kinds. Beyond the largest number an
/// infinity is one step further.
inline double error_in_units(double got, long double exact, DType type, double scale = 0) {
    if (std::isnan(exact)) return std::isnan(got) ? 0 : INFINITY;
    if (std::isnan(got)) return INFINITY;
    const Format format = format_of(type);
    const long double beyond = ldexpl(1, format.most);
    const auto held = [&](long double v) {
        return fabsl(v) >= beyond - ldexpl(beyond, -format.digits - 1) ? copysignl(beyond, v) : v;
    };
    const long double a = held(got), b = held(exact);
    if (a == b) return 0;
    const int exponent =
        b == 0 && scale == 0 ? -100000 : ilogbl(fminl(fmaxl(fabsl(b), scale), beyond / 2));
    const int unit = std::max(exponent, format.least + format.digits - 1) - format.digits + 1;
    return double(ldexpl(fabsl(a - b), -unit));
}

struct Worst {
    double error = 0;
    size_t at = 0;
    double got = 0;
};
/// The largest error of `got`, which `exact` says of the row, at the points. Results and arguments
/// below the least normal number, and moderate multiples of them, may be 0, as devices take them;
/// where the function is no number its derivative may be anything.
inline Worst worst_of(const std::vector<double>& got, const Row& row, Formula exact,
                      const std::vector<double>& x, const std::vector<double>& y, DType type) {
    const bool is_value = exact == row.value;
    const double bound = is_value ? row.bounds.value(type) : row.bounds.slope(type);
    const Format format = format_of(type == f16 ? f32 : type);
    const double normal = std::ldexp(1.0, format.least + format.digits - 1);
    const auto flushed = [&](double v) {
        return std::fabs(v) < normal ? std::copysign(0.0, v) : v;
    };
    Worst out;
    for (size_t i = 0; i < got.size(); ++i) {
        if (!is_value && std::isnan(row.value(x[i], y[i]))) continue;
        const double large = std::max(std::fabs(x[i]), row.by_y ? std::fabs(y[i]) : 0);
        const double scale = bound < 0 && std::isfinite(large) ? std::max(1.0, large) : 0;
        double error = INFINITY;
        for (const double a : {x[i], flushed(x[i])})
            for (const double b : {y[i], flushed(y[i])})
                error = std::min(error, error_in_units(got[i], exact(a, b), type, scale));
        const double factor = std::fabs(x[i]) < 1000 ? std::max(1.0, std::fabs(x[i])) : 1.0;
        if (fabsl(got[i] - exact(x[i], y[i])) <= normal * factor) continue;
        if (!(error <= out.error)) out = {error, i, got[i]};
    }
    return out;
}

inline Tensor tensor_of(const std::vector<double>& x, DType type) {
    if (type == f64) return tensor(x);
    return tensor(std::vector<float>(x.begin(), x.end())).as(type);
}
inline std::vector<double> elements(const Tensor& x) {
    if (x.dtype() == f64) return x.to_vector<double>();
    const std::vector<float> got = x.as(f32).to_vector<float>();
    return {got.begin(), got.end()};
}

/// The errors of the row's function, and of its gradients, in the current session.
struct Errors {
    Worst value, slope;
};
inline Errors errors_of(const Row& row, DType type) {
    const std::vector<double> px = points(type), py = partners(px);
    const Tensor x = tensor_of(px, type), y = tensor_of(py, type);
    const Tensor value = row.f(x, y);
    std::vector<Tensor> xs{x};
    if (row.by_y) xs.push_back(y);
    const std::vector<Tensor> slopes = grad(value, xs);
    Errors out{worst_of(elements(value), row, row.value, px, py, type),
               worst_of(elements(slopes[0]), row, row.by_x, px, py, type)};
    if (row.by_y) {
        const Worst by_y = worst_of(elements(slopes[1]), row, row.by_y, px, py, type);
        if (by_y.error > out.slope.error) out.slope = by_y;
    }
    return out;
}

inline void expect_within(const Row& row, DType type) {
    const Errors errors = errors_of(row, type);
    const std::vector<double> x = points(type), y = partners(x);
    const auto where = [&](const Worst& worst) {
        return std::string(row.name) + " in " + type.name() + " at " + std::to_string(x[worst.at]) +
               ", " + std::to_string(y[worst.at]) + ": " + std::to_string(worst.got);
    };
    EXPECT_LE(errors.value.error, std::fabs(row.bounds.value(type))) << where(errors.value);
    EXPECT_LE(errors.slope.error, std::fabs(row.bounds.slope(type)))
        << "slope of " << where(errors.slope);
    if (std::getenv("FIRN_CORNERS"))
        std::printf("%-12s %-5s %9.4g %12.6g %12.6g  %9.4g %12.6g %12.6g  %g\n", row.name,
                    type.name(), errors.value.error, x[errors.value.at], y[errors.value.at],
                    errors.slope.error, x[errors.slope.at], y[errors.slope.at], errors.slope.got);
}

}  // namespace corners
}  // namespace firn
