// Operations that some drivers compute differently from the oracle on valid input
// (compiler/program/drivers.md): programs give the oracle's results on every driver.
#include <bit>
#include <cmath>
#include <limits>

#include "compiler/shading.h"
#include "tests/device/on_device.h"

namespace firn {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// A function of one or two floats and what some driver gets wrong of it.
struct DriverCase {
    const char* name;
    std::function<Tensor(const Tensor&, const Tensor&)> function;
    Floats a, b;
    double ulps = 0;
    friend std::ostream& operator<<(std::ostream& out, const DriverCase& test) {
        return out << test.name;
    }
};

Floats as_often(Floats values, size_t count) {
    while (values.size() < count) values.push_back(values.empty() ? 0 : values[0]);
    return values;
}

Floats values_of(const DriverCase& test, const Session& session) {
    SessionScope scope(session);
    const Floats b = as_often(test.b, test.a.size());
    auto program = compile(test.function, {f32("n"), f32("n")});
    return Tensor(program(tensor(test.a), tensor(b))).to_vector<float>();
}

bool is_within(float got, float expected, double ulps) {
    if (std::isnan(expected)) return std::isnan(got);
    if (got == expected) return std::signbit(got) == std::signbit(expected);
    if (!std::isfinite(got) || !std::isfinite(expected)) return false;
    const float unit = std::nextafter(std::abs(expected), kInf) - std::abs(expected);
    return std::abs(double{got} - double{expected}) <= ulps * unit;
}

/// All cases share one device.
class DriversOnDevice : public testing::TestWithParam<DriverCase> {
  protected:
    static void SetUpTestSuite() {
        try {
            session() = std::make_unique<Session>(
                device_session({.validation = true, .fill_memory = true}));
        } catch (const DeviceError&) {
        }
    }
    static void TearDownTestSuite() { session().reset(); }
    static std::unique_ptr<Session>& session() {
        static std::unique_ptr<Session> session;
        return session;
    }
};

TEST_P(DriversOnDevice, GiveWhatTheOracleGives) {
    if (!session()) GTEST_SKIP() << "no device";
    const DriverCase& test = GetParam();
    const Floats expected = values_of(test, Session::oracle());
    const Floats got = values_of(test, *session());
    ASSERT_EQ(got.size(), expected.size());
    for (size_t k = 0; k < got.size(); ++k)
        EXPECT_TRUE(is_within(got[k], expected[k], test.ulps))
            << "of " << test.a[k] << ", " << as_often(test.b, test.a.size())[k] << " it is "
            << got[k] << " and not " << expected[k];
}

using T = const Tensor&;
const Floats kSpecial{kInf, -kInf, kNan, 1, -2.5f, 0, -0.0f};

const DriverCase kDriverCases[] = {
    {"log", [](T x, T) { return log(x); }, {kNan, kInf, -1, 0, -0.0f, 1}},
    {"log2", [](T x, T) { return log2(x); }, {kNan, kInf, -1, 0, 1}},
    {"exp", [](T x, T) { return exp(x); }, {kNan, kInf, -kInf, 1000, -1000}},
    {"exp2", [](T x, T) { return exp2(x); }, {kNan, kInf, -kInf, 1000, -1000}},
    {"tanh", [](T x, T) { return tanh(x); }, {100, 1000, -100, 20, kInf, -kInf, kNan, -0.0f}},
    {"tanh_of_small", [](T x, T) { return tanh(x); }, {0.005f, 1e-5f, -0.3f}, {}, 2},
    {"atan2",
     [](T y, T x) { return atan2(y, x); },
     {-0.0f, 0, -0.0f, 0, kNan, 1},
     {1, 1, -1, -1, 1, kNan},
     1},
    {"pow",
     [](T x, T y) { return pow(x, y); },
     {-2, -2, 0, -8, -8, kNan, 1, 4},
     {2, 3, 0, 0, 0.5f, 0, kNan, 0.5f}},
    {"sqrt", [](T x, T) { return sqrt(x); }, {-1, kNan, kInf, -0.0f, 4}},
    {"rsqrt", [](T x, T) { return rsqrt(x); }, {0, kInf, kNan, 4}},
    {"step",
     [](T edge, T x) { return step(edge, x); },
     {kNan, kNan, 1, 0, 1},
     {1, 0, kNan, kNan, 1}},
    {"min", [](T a, T b) { return min(a, b); }, {kNan, 1, kInf, -kInf}, {1, kNan, kNan, 1}},
    {"max", [](T a, T b) { return max(a, b); }, {kNan, 1, kInf, -kInf}, {1, kNan, kNan, 1}},
    {"clamp", [](T x, T) { return clamp(x, 0.0f, 1.0f); }, {kNan, kInf, -kInf, 0.5f}},
    {"sign", [](T x, T) { return sign(x); }, {kNan, 2, -2, 0}},
    {"frac", [](T x, T) { return frac(x); }, {kNan, kInf, -1e-10f, 2.25f}},
    {"round", [](T x, T) { return round(x); }, {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, kNan, kInf}},
    {"times_a_literal_zero", [](T x, T) { return x * 0.0f; }, kSpecial},
    {"times_zero", [](T x, T y) { return x * y; }, kSpecial},
    {"plus_a_literal_zero", [](T x, T) { return x + 0.0f; }, kSpecial},
    {"a_literal_zero_minus", [](T x, T) { return 0.0f - x; }, kSpecial},
    {"minus_itself", [](T x, T) { return x - x; }, kSpecial},
    {"over_itself", [](T x, T) { return x / x; }, kSpecial},
    {"of_equal_and_unequal_nan",
     [](T x, T y) { return (x == y).as(f32) + 2 * (x != y).as(f32) + 4 * (!(x < y)).as(f32); },
     {kNan, kNan, 1, 1},
     {kNan, 1, kNan, 1}},
    {"halves_that_are_stored",
     [](T x, T) { return x.as(f16).as(f32); },
     {1 + 0x3p-12f, 1 + 0x3p-11f, 1.9999f, -1.9999f, 65519, 65520, 1e6f, kInf, -kInf, kNan, 5.9e-8f,
      0x1.000002p-25f}},
    {"numbers_without_sign",
     [](T x, T) { return bitcast(x, u32).as(f32); },
     // 0xffffff7f is 129 below 2^32.
     {std::bit_cast<float>(0xffffff7fu), std::bit_cast<float>(0xffffff80u),
      std::bit_cast<float>(0x80000180u), std::bit_cast<float>(0xc0000081u),
      std::bit_cast<float>(0x01000001u), std::bit_cast<float>(0xffffffffu)}},
    {"remainders_of_integers",
     [](T x, T y) { return (x.as(i32) % y.as(i32)).as(f32); },
     {-7, 7, -8, -7, 5, -7, 7},
     {3, -3, 3, 8, -8, 0, 0}},
    {"remainders_by_literals",
     [](T x, T) {
         Tensor i = x.as(i32);
         return (i % 3 + 100 * (i % 8) + 10000 * (i % -8) + 1000000 * (i % -3)).as(f32);
     },
     {-7, 7, -1, 5}},
    {"quotients_of_integers",
     [](T x, T y) { return (x.as(i32) / y.as(i32)).as(f32); },
     {1, -7, 0, -2147483648.0f, -2147483648.0f},
     {0, 0, 0, -1, 0}},
    {"shifts_by_more_than_the_bits",
     [](T x, T y) { return ((x.as(i32) << y.as(i32)) ^ (x.as(i32) >> y.as(i32))).as(f32); },
     {1, 1, 1, -1, 77},
     {32, 33, 40, 64, -1}},
};

std::string driver_case_name(const testing::TestParamInfo<DriverCase>& info) {
    return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Inputs, DriversOnDevice, testing::ValuesIn(kDriverCases),
                         driver_case_name);

}  // namespace
}  // namespace firn
