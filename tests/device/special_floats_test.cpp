// -0, inf and nan go through compiled kernels as IEEE 754 says, bit by bit.
#include <bit>
#include <cmath>
#include <limits>

#include "compiler/language.h"
#include "engine/runtime/vulkan_executor.h"
#include "tests/gpu/device_fixture.h"

namespace firn {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

class SpecialFloats : public DeviceTest {
  protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (device && !device->profile().keeps_special_floats)
            GTEST_SKIP() << "it keeps no -0, inf and nan";
    }

    /// The result of `function` over the values on the device.
    template <class F>
    std::vector<float> run(F function, const std::vector<float>& values) {
        SessionScope scope(Session(std::make_shared<VulkanExecutor>(device)));
        const int count = static_cast<int>(values.size());
        return compile([&](Tensor x) { return function(x); }, {f32("n")})(tensor(values, {count}))
            .template to_vector<float>();
    }
    static void expect_same(const std::vector<float>& got, const std::vector<float>& wanted) {
        ASSERT_EQ(got.size(), wanted.size());
        for (size_t k = 0; k < got.size(); ++k) {
            bool same = std::isnan(wanted[k])
                            ? std::isnan(got[k])
                            : std::bit_cast<uint32_t>(got[k]) == std::bit_cast<uint32_t>(wanted[k]);
            EXPECT_TRUE(same) << k << ": " << got[k] << " and not " << wanted[k];
        }
    }
    const std::vector<float> values = {0.0f, -0.0f, kInfinite, -kInfinite, NAN, 1.0f, -2.5f, 3e38f};
};

TEST_F(SpecialFloats, ThroughACopy) {
    // Flipped, so that it is a kernel that moves them.
    std::vector<float> wanted(values.rbegin(), values.rend());
    expect_same(run([](Tensor x) { return flip(x, {.axis = 0}); }, values), wanted);
}
TEST_F(SpecialFloats, ThroughHalvesThatAreStored) {
    expect_same(run([](Tensor x) { return x.as(f16); },
                    {0.0f, -0.0f, kInfinite, -kInfinite, NAN, 65504.0f, 1e6f, -3e38f, 0.25f}),
                {0.0f, -0.0f, kInfinite, -kInfinite, NAN, 65504.0f, kInfinite, -kInfinite, 0.25f});
}
TEST_F(SpecialFloats, AddingZeroKeepsTheSignOfOthersOnly) {
    std::vector<float> wanted;
    for (float x : values) wanted.push_back(x + 0.0f);
    expect_same(run([](Tensor x) { return x + 0.0f; }, values), wanted);
}
TEST_F(SpecialFloats, TimesZeroIsNotAlwaysZero) {
    std::vector<float> wanted;
    for (float x : values) wanted.push_back(x * 0.0f);
    expect_same(run([](Tensor x) { return x * 0.0f; }, values), wanted);
}
TEST_F(SpecialFloats, MinusItselfIsNotAlwaysZero) {
    std::vector<float> wanted;
    for (float x : values) wanted.push_back(x - x);
    expect_same(run([](Tensor x) { return x - x; }, values), wanted);
}
TEST_F(SpecialFloats, NegationFlipsTheSignOfZero) {
    std::vector<float> wanted;
    for (float x : values) wanted.push_back(-x);
    expect_same(run([](Tensor x) { return -x; }, values), wanted);
}
TEST_F(SpecialFloats, ZeroMinusIsNoNegation) {
    std::vector<float> wanted;
    for (float x : values) wanted.push_back(0.0f - x);
    expect_same(run([](Tensor x) { return 0.0f - x; }, values), wanted);
}
TEST_F(SpecialFloats, ANanIsNotEqualToItself) {
    std::vector<float> wanted;
    for (float x : values) wanted.push_back(x == x ? 1.0f : 0.0f);
    expect_same(run([](Tensor x) { return cast<float>(x == x); }, values), wanted);
}
TEST_F(SpecialFloats, TimesMinusZeroFlipsTheSign) {
    std::vector<float> wanted;
    for (float x : values) wanted.push_back(x * -0.0f);
    expect_same(run([](Tensor x) { return x * -0.0f; }, values), wanted);
}
TEST_F(SpecialFloats, ZeroOverIsNotAlwaysZero) {
    std::vector<float> wanted;
    for (float x : values) wanted.push_back(0.0f / x);
    expect_same(run([](Tensor x) { return 0.0f / x; }, values), wanted);
}
TEST_F(SpecialFloats, TheRestByZeroIsNan) {
    const std::vector<float> wanted(values.size(), NAN);
    expect_same(run([](Tensor x) { return x % 0.0f; }, values), wanted);
    expect_same(run([](Tensor x) { return x % -0.0f; }, values), wanted);
}
TEST_F(SpecialFloats, TheRestOfZeroIsNotAlwaysZero) {
    std::vector<float> wanted;
    for (float x : values) wanted.push_back(0.0f / x);  // with the sign of the divisor
    expect_same(run([](Tensor x) { return 0.0f % x; }, values), wanted);
}
TEST_F(SpecialFloats, OverItselfIsNotAlwaysOne) {
    std::vector<float> wanted;
    for (float x : values) wanted.push_back(x / x);
    expect_same(run([](Tensor x) { return x / x; }, values), wanted);
}
TEST_F(SpecialFloats, OfOtherTypesAreKeptToo) {
    auto all = [](Tensor x) {
        return stack({x + 0.0f, 0.0f - x, x * 0.0f, 0.0f / x, x * -0.0f, x - x}, {.axis = 0});
    };
    SessionScope scope(Session(std::make_shared<VulkanExecutor>(device)));
    const std::vector<float> few(values.begin(), values.end() - 1);  // 3e38 is no f16
    std::vector<float> wanted;
    for (float x : few) wanted.push_back(x + 0.0f);
    for (float x : few) wanted.push_back(0.0f - x);
    for (float x : few) wanted.push_back(x * 0.0f);
    for (float x : few) wanted.push_back(0.0f / x);
    for (float x : few) wanted.push_back(x * -0.0f);
    for (float x : few) wanted.push_back(x - x);
    for (DType type : {f16, f64}) {
        if (type == f64 && !device->profile().has_f64) continue;
        auto program = compile([&](Tensor x) { return cast<float>(all(x)); }, {type(7)});
        expect_same(program(cast(tensor(few, {7}), type)).to_vector<float>(), wanted);
    }
}
TEST_F(SpecialFloats, TheInverseSeesTheSignOfZero) {
    std::vector<float> wanted;
    for (float x : values) wanted.push_back(1.0f / x);
    // 1 / 3e38 is subnormal, which a device may flush.
    wanted.back() = 0;
    std::vector<float> got = run([](Tensor x) { return 1.0f / x; }, values);
    if (std::abs(got.back()) < std::numeric_limits<float>::min()) got.back() = 0;
    expect_same(got, wanted);
}

}  // namespace
}  // namespace firn
