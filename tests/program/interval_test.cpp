// Intervals and congruences against brute force: on small numbers all of them, which says how tight
// they are, and at the ends of 32 and of 64 bits that they hold.
#include "compiler/program/interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

namespace firn {
namespace {

using Wide = __int128;

Wide floor_of(Wide a, Wide b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }

struct Operation {
    const char* name;
    Interval (*of)(const Interval&, const Interval&);
    Wide (*value)(Wide, Wide);
    bool tight;  // the result is no larger than it must be
};
const std::array kOperations{
    Operation{"add", operator+, [](Wide a, Wide b) { return a + b; }, true},
    Operation{"sub", operator-, [](Wide a, Wide b) { return a - b; }, true},
    Operation{"neg", [](const Interval& a, const Interval&) { return -a; },
              [](Wide a, Wide) { return -a; }, true},
    Operation{"mul", operator*, [](Wide a, Wide b) { return a * b; }, true},
    Operation{"min", min, [](Wide a, Wide b) { return std::min(a, b); }, true},
    Operation{"max", max, [](Wide a, Wide b) { return std::max(a, b); }, true},
    Operation{"join", join, [](Wide a, Wide) { return a; }, false},
    Operation{"join", join, [](Wide, Wide b) { return b; }, false},
    Operation{"floor_div", floor_div, floor_of, false},
    Operation{"mod", mod, [](Wide a, Wide b) { return b == 0 ? 0 : a - b * floor_of(a, b); },
              false},
};

int64_t saturated(Wide value) {
    return static_cast<int64_t>(std::clamp<Wide>(value, INT64_MIN, INT64_MAX));
}

std::vector<Interval> intervals(const std::vector<int64_t>& ends) {
    std::vector<Interval> out;
    for (size_t lo = 0; lo < ends.size(); ++lo)
        for (size_t hi = lo; hi < ends.size(); ++hi) out.push_back({ends[lo], ends[hi]});
    return out;
}

/// Every operation on any two intervals between those ends, at those of the numbers that they hold.
void check(const std::vector<int64_t>& numbers, bool all_numbers) {
    const std::vector<Interval> all = intervals(numbers);
    for (const Operation& operation : kOperations)
        for (const Interval& a : all)
            for (const Interval& b : all) {
                const Interval made = operation.of(a, b);
                Interval exact{INT64_MAX, INT64_MIN};
                for (int64_t x : numbers)
                    for (int64_t y : numbers) {
                        if (!contains(a, x) || !contains(b, y)) continue;
                        const int64_t value = saturated(operation.value(x, y));
                        exact = join(exact, {value, value});
                    }
                const bool tight = operation.tight && all_numbers;
                ASSERT_TRUE(tight ? made == exact : contains(made, exact))
                    << operation.name << " of [" << a.lo << ", " << a.hi << "] and [" << b.lo
                    << ", " << b.hi << "] is [" << made.lo << ", " << made.hi
                    << "], values lie in [" << exact.lo << ", " << exact.hi << "]";
            }
}

TEST(Interval, IsExactOnSmallNumbers) { check({-4, -3, -2, -1, 0, 1, 2, 3, 4}, true); }
TEST(Interval, HoldsAtTheEndsOfIntegers) {
    check({INT64_MIN, INT64_MIN + 1, int64_t{INT32_MIN} - 1, INT32_MIN, -7, -1, 0, 1, 2, 5,
           INT32_MAX, int64_t{INT32_MAX} + 1, INT64_MAX - 1, INT64_MAX},
          false);
}
TEST(Interval, QuotientsByWhatIsPositiveAreTight) {
    EXPECT_EQ(floor_div({-7, 9}, {2, 3}), (Interval{-4, 4}));
    EXPECT_EQ(floor_div({5, 9}, {0, 3}), (Interval{0, 9}));
    EXPECT_EQ(floor_div({0, 9}, {0, 0}), (Interval{0, 0}));
    EXPECT_EQ(mod({0, 3}, {8, 8}), (Interval{0, 3}));
    EXPECT_EQ(mod({-9, 30}, {2, 8}), (Interval{0, 7}));
}
TEST(Interval, AnEndThatSaysNothingStays) {
    EXPECT_EQ((Interval{0, INT64_MAX} + Interval{-5, -5}), (Interval{-5, INT64_MAX}));
    EXPECT_EQ((Interval{INT64_MIN, 0} + Interval{3, INT64_MAX}), Interval());
    EXPECT_EQ((Interval{1, INT64_MAX} * Interval{-2, 2}), Interval());
}

/// All congruences of small moduli, and some at the ends of 64 bits.
std::vector<Congruence> congruences() {
    std::vector<Congruence> out;
    for (int64_t mod = 1; mod <= 6; ++mod)
        for (int64_t rem = 0; rem < mod; ++rem) out.push_back({mod, rem});
    for (int64_t number : {-5, -1, 0, 1, 4}) out.push_back({0, number});
    for (int64_t number : {INT64_MIN, INT64_MAX}) out.push_back({0, number});
    for (int64_t mod : {int64_t{1} << 32, int64_t{3} << 33, int64_t{1} << 62, INT64_MAX})
        for (int64_t rem : {int64_t{0}, int64_t{1}, mod - 1}) out.push_back({mod, rem});
    return out;
}

/// Some values of it, near 0 and beyond 64 bits.
std::vector<Wide> values(const Congruence& a) {
    std::vector<Wide> out;
    for (Wide k = -7; k <= 7; ++k) out.push_back(a.rem + k * a.mod);
    out.push_back(a.rem + (Wide{1} << 40) * a.mod);
    return out;
}

bool holds(const Congruence& a, Wide value) {
    const bool normal = a.mod >= 0 && (a.mod == 0 || (a.rem >= 0 && a.rem < a.mod));
    return normal && (a.mod == 0 ? value == a.rem : (value - a.rem) % a.mod == 0);
}

void check(const char* name, Congruence (*of)(const Congruence&, const Congruence&),
           const std::function<std::vector<Wide>(Wide, Wide)>& results) {
    for (const Congruence& a : congruences())
        for (const Congruence& b : congruences()) {
            const Congruence made = of(a, b);
            for (Wide x : values(a))
                for (Wide y : values(b))
                    for (Wide value : results(x, y))
                        ASSERT_TRUE(holds(made, value))
                            << name << " of " << a.rem << " mod " << a.mod << " and " << b.rem
                            << " mod " << b.mod << " is " << made.rem << " mod " << made.mod;
        }
}

TEST(Congruence, OfSums) {
    check("sum", operator+, [](Wide x, Wide y) { return std::vector{x + y}; });
    EXPECT_EQ((Congruence{12, 5} + Congruence{8, 7}), (Congruence{4, 0}));
    EXPECT_EQ((Congruence{0, 5} + Congruence{0, -7}), (Congruence{0, -2}));
}
TEST(Congruence, OfProducts) {
    check("product", operator*, [](Wide x, Wide y) {
        const Wide room = Wide{1} << 62;  // else the product leaves 128 bits
        const bool fits = x < room && x > -room && y < room && y > -room;
        return fits ? std::vector{x * y} : std::vector<Wide>{};
    });
    EXPECT_EQ((Congruence{6, 2} * Congruence{0, 4}), (Congruence{24, 8}));
    EXPECT_EQ((Congruence{4, 2} * Congruence{6, 0}), (Congruence{12, 0}));
}
TEST(Congruence, OfOneOfTwo) {
    check("join", join, [](Wide x, Wide y) { return std::vector{x, y}; });
    EXPECT_EQ(join(Congruence{0, 3}, Congruence{0, 11}), (Congruence{8, 3}));
    EXPECT_EQ(join(Congruence{0, 3}, Congruence{0, 3}), (Congruence{0, 3}));
}
TEST(Congruence, OfWhatWrapsAround) {
    for (const Congruence& a : congruences())
        for (Wide value : values(a))
            for (int64_t turns : {-3, 0, 1})
                ASSERT_TRUE(holds(wrapped(a), value + turns * (Wide{1} << 32)))
                    << a.rem << " mod " << a.mod;
    EXPECT_EQ(wrapped({12, 7}), (Congruence{4, 3}));
}
TEST(Congruence, SaysWhatIsLeftOver) {
    EXPECT_EQ(remainder({12, 7}, 4), 3);
    EXPECT_EQ(remainder({12, 7}, 8), -1);
    EXPECT_EQ(remainder({0, -3}, 4), 1);
    EXPECT_TRUE(contains(Congruence{4, 3}, -1));
    EXPECT_FALSE(contains(Congruence{4, 3}, 1));
}

}  // namespace
}  // namespace firn
