// Reciprocals of roots by native code, which are made from the processor's estimates.
#include <cmath>
#include <limits>
#include <vector>

#include "tests/device/native_levels.h"

namespace firn {
namespace {

/// Every exponent of normal numbers, with several mantissas each.
std::vector<float> all_exponents() {
    std::vector<float> out;
    for (int exponent = -126; exponent < 128; ++exponent)
        for (int k = 0; k < 64; ++k)
            out.push_back(
                std::ldexp(1.0f + static_cast<float>(k * 131071 + k) / 8388608, exponent));
    return out;
}

/// The difference in units in the last place of the exact value.
double units(float got, double exact) {
    const double unit = std::ldexp(1.0, std::ilogb(exact) - 23);
    return std::abs(double(got) - exact) / unit;
}

class NativeRoots : public NativeLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, NativeRoots, native_levels(), level_name);

TEST_P(NativeRoots, OfEveryExponentAreWithinTheirErrors) {
    SessionScope scope(cpu_session());
    const std::vector<float> values = all_exponents();
    const Tensor x = tensor(values);
    const std::vector<float> inverse = rsqrt(x).to_vector<float>(),
                             quotient = (3.7f / sqrt(x)).to_vector<float>(),
                             root = sqrt(x).to_vector<float>();
    double worst = 0, worst_quotient = 0;
    for (size_t k = 0; k < values.size(); ++k) {
        const double exact = 1 / std::sqrt(double(values[k]));
        worst = std::max(worst, units(inverse[k], exact));
        worst_quotient = std::max(worst_quotient, units(quotient[k], exact * double(3.7f)));
        if (values[k] > 0x1p-102f) {
            EXPECT_EQ(root[k], std::sqrt(values[k]));
        }
    }
    EXPECT_LT(worst, 1.5);
    EXPECT_LT(worst_quotient, 3);
}

TEST_P(NativeRoots, OfSpecialNumbersAreThoseOfTheDivision) {
    SessionScope scope(cpu_session());
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> values{0.0f, -0.0f, inf, -inf, -2.0f, std::nanf("")};
    // Kernels of many lanes, some of them ordinary.
    std::vector<float> many;
    for (int k = 0; k < 100; ++k) {
        many.insert(many.end(), values.begin(), values.end());
        many.push_back(4.0f);
    }
    const std::vector<float> inverse = rsqrt(tensor(many)).to_vector<float>(),
                             quotient = (-1.0f / sqrt(tensor(many))).to_vector<float>(),
                             zero = (0.0f / sqrt(tensor(many))).to_vector<float>(),
                             root = sqrt(tensor(many)).to_vector<float>();
    for (size_t k = 0; k < many.size(); ++k) {
        const float exact = 1.0f / std::sqrt(many[k]);
        const auto expect = [&](float got, float expected) {
            EXPECT_TRUE(std::isnan(expected) ? std::isnan(got) : got == expected)
                << many[k] << ": " << got << ", not " << expected;
        };
        expect(root[k], std::sqrt(many[k]));
        if (many[k] == 0) {
            EXPECT_EQ(std::signbit(root[k]), std::signbit(many[k]));
        }
        expect(inverse[k], exact);
        expect(quotient[k], -exact);
        expect(zero[k], 0.0f / std::sqrt(many[k]));
    }
}

}  // namespace
}  // namespace firn
