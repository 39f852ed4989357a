// The functions of shaders/math.glsl on the device against double precision, over the whole range
// of f32.
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/device/element_kernel.h"
#include "tests/kernel/function_points.h"
#include "tests/kernel/interpreted_function.h"

namespace firn {
namespace {

using test::bytes_of;
using test::error_in_ulps;
using test::float_points;
using test::flushed;

using Reference = double (*)(double);

/// `ulps`: the largest error that is allowed, in units in the last place of the exact result;
/// arguments beyond 1e5 may add an error of `huge_error`, relative to results beyond 1. Numbers
/// beyond `most` are none of its arguments.
struct MathFunction {
    const char* name;
    Reference reference;
    double ulps;
    double huge_error = 0;
    double most = INFINITY;
};

double one_plus_tanh(double x) { return 2 / (1 + std::exp(-2 * x)); }

const MathFunction kFunctions[] = {
    {"firn_exp", std::exp, 2},
    {"firn_exp2", std::exp2, 2},
    {"firn_expm1", std::expm1, 2},
    {"firn_log", std::log, 1},
    {"firn_log2", std::log2, 2},
    {"firn_log1p", std::log1p, 1},
    {"firn_sin", std::sin, 3, 1e-11},
    {"firn_cos", std::cos, 3, 1e-11},
    {"firn_tan", std::tan, 4, 1e-11},
    {"firn_sin_of_few", std::sin, 3, 0, 1e5},
    {"firn_cos_of_few", std::cos, 3, 0, 1e5},
    {"firn_tan_of_few", std::tan, 4, 0, 1e5},
    {"firn_asin", std::asin, 3},
    {"firn_acos", std::acos, 2},
    {"firn_atan", std::atan, 3},
    {"firn_sinh", std::sinh, 2},
    {"firn_cosh", std::cosh, 2},
    {"firn_tanh", std::tanh, 3},
    {"firn_erf", std::erf, 2},
    {"firn_one_plus_tanh", one_plus_tanh, 100},
    {"firn_sqrt_f32", std::sqrt, 3},
};

std::vector<float> evaluated(const std::shared_ptr<Device>& device, const std::string& expression,
                             const std::vector<std::vector<float>>& columns) {
    VulkanExecutor executor(device);
    std::vector<std::vector<std::byte>> stored;
    for (const std::vector<float>& column : columns) stored.push_back(bytes_of(column));
    const auto count = static_cast<int64_t>(columns[0].size());
    std::vector<std::byte> raw = run_element(
        executor, {expression, f32, std::vector<DType>(columns.size(), f32)}, stored, count);
    std::vector<float> out(columns[0].size());
    std::memcpy(out.data(), raw.data(), raw.size());
    return out;
}

class MathTest : public DeviceTest, public testing::WithParamInterface<MathFunction> {};

TEST_P(MathTest, StaysWithinItsStatedError) {
    const MathFunction& function = GetParam();
    const std::vector<float> x = float_points();
    const std::vector<float> got = evaluated(device, std::string(function.name) + "(v0)", {x});
    double worst = 0;
    size_t where = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        if (std::isfinite(x[i]) && std::abs(x[i]) > function.most) continue;
        const double exact = function.reference(x[i]);
        const double slack = function.huge_error * std::max(1.0, exact * exact);
        if (std::abs(x[i]) > 1e5f && std::abs(got[i] - exact) <= slack) continue;
        double error = error_in_ulps(got[i], exact);
        // A device may take a subnormal argument for 0.
        if (std::abs(x[i]) < std::numeric_limits<float>::min())
            error = std::min(error,
                             error_in_ulps(got[i], function.reference(std::copysign(0.0, x[i]))));
        if (error > worst) worst = error, where = i;
    }
    RecordProperty("max_ulps", std::to_string(worst));
    EXPECT_LE(worst, function.ulps) << function.name << "(" << x[where] << ") = " << got[where]
                                    << ", exactly " << function.reference(x[where]);
}

INSTANTIATE_TEST_SUITE_P(Functions, MathTest, testing::ValuesIn(kFunctions),
                         [](const auto& test) { return std::string(test.param.name); });

class MathOfTwo : public DeviceTest {
  protected:
    /// Results below `least` are not looked at.
    void expect_within(const std::string& name, double (*reference)(double, double), double ulps,
                       double least = 0) {
        std::vector<float> x = float_points(), y(x.size());
        for (size_t i = 0; i < x.size(); ++i) {
            y[i] = x[(i * 7919 + 13) % x.size()];
            // Most pairs of any exponents overflow: give half of them a moderate second argument.
            if (i % 2) y[i] = std::remainder(y[i], 40.0f);
        }
        for (float a :
             {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 2.0f, -3.0f, 0.5f, 3e38f, 1e-30f})
            for (float b : {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, 2.0f, 3.0f, 0.5f,
                            -3e38f, 1e-30f}) {
                x.push_back(a);
                y.push_back(b);
            }
        const std::vector<float> got = evaluated(device, name + "(v0, v1)", {x, y});
        double worst = 0;
        size_t where = 0;
        for (size_t i = 0; i < x.size(); ++i) {
            const double exact = std::abs(reference(x[i], y[i]));
            if (exact > 0 && exact < least) continue;
            double error = std::min(error_in_ulps(got[i], reference(x[i], y[i])),
                                    error_in_ulps(got[i], reference(flushed(x[i]), flushed(y[i]))));
            if (error > worst) worst = error, where = i;
        }
        RecordProperty("max_ulps", std::to_string(worst));
        EXPECT_LE(worst, ulps) << name << "(" << x[where] << ", " << y[where]
                               << ") = " << got[where] << ", exactly "
                               << reference(x[where], y[where]);
    }
};

TEST_F(MathOfTwo, CorrectedQuotientsAreTheNearestWhereMultiplyAddsAreFused) {
    // Without fused multiply-adds they are off by two, but such devices need no correction.
    const double ulps = device->profile().rounds_exactly ? 2 : 0.500001;
    expect_within(
        "firn_div_f32", [](double x, double y) { return x / y; }, ulps, 0x1p-100);
}
TEST_F(MathOfTwo, RemaindersOfZeroAndOfMultiples) {
    const std::vector<float> x{-0.0f, 0.0f, 6.0f, -6.0f, -1.0f, INFINITY}, y(x.size(), 3.0f);
    const std::vector<float> got = evaluated(device, "firn_mod_f32(v0, v1)", {x, y});
    for (size_t k = 0; k < 4; ++k)
        EXPECT_EQ(std::bit_cast<uint32_t>(got[k]), 0u) << x[k] << " leaves " << got[k];
    EXPECT_EQ(got[4], 2.0f);
    EXPECT_TRUE(std::isnan(got[5]));
}
TEST_F(MathOfTwo, PowStaysWithinItsStatedError) { expect_within("firn_pow", std::pow, 3); }
TEST_F(MathOfTwo, Atan2StaysWithinItsStatedError) { expect_within("firn_atan2", std::atan2, 3); }

}  // namespace
}  // namespace firn
