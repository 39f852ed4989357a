// Sums of multiples, against the values that they have.
#include "compiler/program/affine.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "compiler/program/size.h"

namespace firn {
namespace {

using Sum = Affine<int>;

constexpr std::array<int64_t, 5> kValues{1, 1000, -70, 3, 100'000};

int64_t value(const Sum& sum) {
    int64_t out = sum.offset;
    for (const auto& [atom, coefficient] : sum.terms)
        out += coefficient * kValues[static_cast<size_t>(atom)];
    return out;
}

/// The atoms are sorted and differ, no coefficient is 0.
bool is_canonical(const Sum& sum) {
    for (size_t k = 0; k < sum.terms.size(); ++k)
        if (sum.terms[k].second == 0 || (k > 0 && sum.terms[k - 1].first >= sum.terms[k].first))
            return false;
    return true;
}

TEST(Affine, SumsAreExactAndCanonical) {
    std::mt19937 random(1);
    const auto number = [&] { return static_cast<int64_t>(random() % 5) - 2; };
    const auto any = [&] {
        Sum out{{}, number()};
        for (int atom = 0; atom < static_cast<int>(kValues.size()); ++atom)
            if (const int64_t factor = number()) out.terms.emplace_back(atom, factor);
        return out;
    };
    for (int k = 0; k < 2000; ++k) {
        const Sum a = any(), b = any();
        const int64_t times = number();
        const Sum made = plus(a, b, times);
        ASSERT_EQ(value(made), value(a) + times * value(b));
        ASSERT_TRUE(is_canonical(made));
        ASSERT_EQ(value(scaled(a, times)), times * value(a));
        for (int atom = 0; atom < static_cast<int>(kValues.size()); ++atom)
            ASSERT_EQ(coefficient_of(made, atom),
                      coefficient_of(a, atom) + times * coefficient_of(b, atom));
    }
}
TEST(Affine, CoefficientsMayBeSizes) {
    const Size n = Size::symbol("n");
    const Affine<int, Size> row{{{0, n}, {1, Size(1)}}, n - 1};
    const Affine<int, Size> made = plus(row, {{{0, Size(1)}}, Size(1)}, Size(0) - n);
    EXPECT_EQ(made.terms, (std::vector<std::pair<int, Size>>{{1, Size(1)}}));
    EXPECT_EQ(made.offset, Size(-1));
}

}  // namespace
}  // namespace firn
