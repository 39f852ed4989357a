// The functions of shaders/math_f64.glsl and trigonometry_f64.glsl on the device against the host's
// long doubles, over the whole range of f64.
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/device/element_kernel.h"
#include "tests/kernel/function_points.h"
#include "tests/kernel/interpreted_function.h"

namespace firn {
namespace {

using test::bytes_of;
using test::double_points;
using test::error_in_wide_ulps;
using test::flushed;

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

class WideMath : public DeviceTest {
  protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (device && !has_type(device->profile(), f64)) GTEST_SKIP() << "it has no f64";
    }

    Doubles evaluated(const std::string& expression, const std::vector<Doubles>& columns) {
        VulkanExecutor executor(device);
        std::vector<std::vector<std::byte>> stored;
        for (const Doubles& column : columns) stored.push_back(bytes_of(column));
        const std::vector<std::byte> raw =
            run_element(executor, {expression, f64, std::vector<DType>(columns.size(), f64)},
                        stored, static_cast<int64_t>(columns[0].size()));
        Doubles out(columns[0].size());
        std::memcpy(out.data(), raw.data(), raw.size());
        return out;
    }

    void expect_wide(const std::string& name, long double (*reference)(long double, long double),
                     double ulps) {
        Doubles x = double_points(), y(x.size());
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
            const double error =
                std::min(error_in_wide_ulps(got[i], reference(x[i], y[i])),
                         error_in_wide_ulps(got[i], reference(flushed(x[i]), flushed(y[i]))));
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
    const Doubles x = double_points();
    const Doubles got = evaluated(std::string("firn_") + function.name + "_f64(v0)", {x});
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const double error =
            std::min(error_in_wide_ulps(got[i], function.reference(x[i])),
                     error_in_wide_ulps(got[i], function.reference(flushed(x[i]))));
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
