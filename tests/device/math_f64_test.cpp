// The functions of shaders/math_f64.glsl and trigonometry_f64.glsl on the device against the host's
// long doubles, over the whole range of f64.
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/device/element_kernel.h"

namespace firn {
namespace {

static_assert(std::numeric_limits<long double>::digits >= 64, "the reference is exact enough");

using Doubles = std::vector<double>;

/// `ulps`: the largest error that is allowed, in units in the last place of the exact result.
struct WideFunction {
    const char* name;
    long double (*reference)(long double);
    double ulps;
};

const WideFunction kWideFunctions[] = {
    {"exp", std::exp, 1.5},   {"exp2", std::exp2, 1.5}, {"expm1", std::expm1, 2},
    {"log", std::log, 1.5},   {"log2", std::log2, 1.5}, {"log1p", std::log1p, 1.5},
    {"sin", std::sin, 3},     {"cos", std::cos, 3},     {"tan", std::tan, 4},
    {"asin", std::asin, 2.5}, {"acos", std::acos, 2},   {"atan", std::atan, 2},
    {"sinh", std::sinh, 2},   {"cosh", std::cosh, 2},   {"tanh", std::tanh, 3},
    {"erf", std::erf, 2},
};

constexpr double kLeastWide = std::numeric_limits<double>::min();

/// Distance in f64 steps at `exact`; 0 where both are the same nan, infinity or flushed subnormal.
double error_in_wide_ulps(double got, long double exact) {
    if (std::isnan(exact)) return std::isnan(got) ? 0 : INFINITY;
    const auto nearest = static_cast<double>(exact);
    if (got == nearest)
        return got == 0 && exact == 0 && std::signbit(got) != std::signbit(exact) ? INFINITY : 0;
    if (std::isnan(got)) return INFINITY;
    if (std::abs(exact) < kLeastWide && got == 0) return 0;
    // Beyond the largest number an infinity is one step further.
    const auto bounded = [](long double x) {
        return std::isinf(x) || std::abs(x) > 0x1p1024L ? std::copysign(0x1p1024L, x) : x;
    };
    const int exponent =
        std::ilogb(std::max(std::abs(exact), static_cast<long double>(kLeastWide)));
    return static_cast<double>(std::abs(bounded(got) - bounded(exact)) /
                               std::ldexp(1.0L, std::min(exponent, 1023) - 52));
}

double flushed_wide(double x) { return std::abs(x) < kLeastWide ? std::copysign(0.0, x) : x; }

class DrawnBits {
  public:
    uint64_t operator()() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return (state_ >> 32) | (state_ << 32);
    }

  private:
    uint64_t state_ = 12345;
};

/// Every exponent and sign with some mantissas, multiples of pi/2, the neighbourhoods where
/// functions are difficult, and the ranges in which they change.
Doubles wide_arguments() {
    Doubles out = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN};
    DrawnBits next;
    for (uint64_t exponent = 0; exponent < 2047; ++exponent)
        for (int k = 0; k < 60; ++k)
            out.push_back(std::bit_cast<double>((next() & (uint64_t{1} << 63)) | exponent << 52 |
                                                next() >> 12));
    for (double centre : {0.5, 1.0, -1.0, 2.0, 2.2, 709.78, -745.1, 1024.0, -1022.0, -1074.0,
                          0.70710678, 5.9, 0.41421356237309503, 2.414213562373095, 1e6})
        for (int64_t k = -700; k < 700; ++k)
            out.push_back(std::bit_cast<double>(std::bit_cast<int64_t>(centre) + k));
    for (int k = -30000; k < 30000; ++k) out.push_back(k * (M_PI / 2));
    for (int64_t k = 1; k < 20000; ++k)
        out.push_back(static_cast<double>(k * k * k * 1001) * (M_PI / 2));
    const double ranges[] = {1, 3, 10, 100, 800};
    for (int k = 0; k < 200000; ++k)
        out.push_back(static_cast<double>(static_cast<int64_t>(next())) * 0x1p-63 * ranges[k % 5]);
    return out;
}

std::vector<std::byte> bytes_of_wide(const Doubles& values) {
    std::vector<std::byte> out(values.size() * sizeof(double));
    std::memcpy(out.data(), values.data(), out.size());
    return out;
}

class WideMath : public DeviceTest {
  protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (device && !has_type(device->profile(), f64)) GTEST_SKIP() << "it has no f64";
    }

    Doubles evaluated(const std::string& expression, const std::vector<Doubles>& columns) {
        VulkanExecutor executor(device);
        std::vector<std::vector<std::byte>> stored;
        for (const Doubles& column : columns) stored.push_back(bytes_of_wide(column));
        const std::vector<std::byte> raw =
            run_element(executor, {expression, f64, std::vector<DType>(columns.size(), f64)},
                        stored, static_cast<int64_t>(columns[0].size()));
        Doubles out(columns[0].size());
        std::memcpy(out.data(), raw.data(), raw.size());
        return out;
    }

    void expect_wide(const std::string& name, long double (*reference)(long double, long double),
                     double ulps) {
        Doubles x = wide_arguments(), y(x.size());
        for (size_t i = 0; i < x.size(); ++i) {
            y[i] = x[(i * 7919 + 13) % x.size()];
            // Most pairs of any exponents overflow: give half of them a moderate second argument.
            if (i % 2) y[i] = std::remainder(y[i], 300.0);
        }
        const double ends[] = {0.0,       -0.0,   1.0,         -1.0,        INFINITY,
                               -INFINITY, NAN,    2.0,         -3.0,        0.5,
                               3e305,     1e-300, 1 + 0x1p-50, 1 - 0x1p-52, 9007199254740993.0};
        for (double a : ends)
            for (double b : ends) x.push_back(a), y.push_back(b);
        const Doubles got = evaluated(name + "(v0, v1)", {x, y});
        double worst = 0;
        size_t where = 0;
        for (size_t i = 0; i < x.size(); ++i) {
            const double error = std::min(
                error_in_wide_ulps(got[i], reference(x[i], y[i])),
                error_in_wide_ulps(got[i], reference(flushed_wide(x[i]), flushed_wide(y[i]))));
            if (error > worst) worst = error, where = i;
        }
        RecordProperty("max_ulps", std::to_string(worst));
        EXPECT_LE(worst, ulps) << name << "(" << x[where] << ", " << y[where]
                               << ") = " << got[where] << ", exactly "
                               << reference(x[where], y[where]);
    }
};

class WideMathOfOne : public WideMath, public testing::WithParamInterface<WideFunction> {};

TEST_P(WideMathOfOne, StaysWithinItsStatedError) {
    const WideFunction& function = GetParam();
    const Doubles x = wide_arguments();
    const Doubles got = evaluated(std::string("firn_") + function.name + "_f64(v0)", {x});
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const double error =
            std::min(error_in_wide_ulps(got[i], function.reference(x[i])),
                     error_in_wide_ulps(got[i], function.reference(flushed_wide(x[i]))));
        if (error > worst) worst = error, where = i;
    }
    RecordProperty("max_ulps", std::to_string(worst));
    EXPECT_LE(worst, function.ulps) << function.name << "(" << x[where] << ") = " << got[where]
                                    << ", exactly " << function.reference(x[where]);
}

INSTANTIATE_TEST_SUITE_P(Functions, WideMathOfOne, testing::ValuesIn(kWideFunctions),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_F(WideMath, PowStaysWithinItsStatedError) { expect_wide("firn_pow_f64", std::pow, 2); }
TEST_F(WideMath, Atan2StaysWithinItsStatedError) { expect_wide("firn_atan2_f64", std::atan2, 3); }

}  // namespace
}  // namespace firn
