// Bounds of a value against the values of the operation, at the ends of i32 too.
#include "compiler/ir/value_bounds.h"

#include <gtest/gtest.h>

#include <vector>

#include "compiler/ir/evaluate.h"

namespace firn {
namespace {

const std::vector<int64_t> kNumbers{INT32_MIN, INT32_MIN + 1, -40,      -3, -1, 0, 1, 2, 3,
                                    31,        INT32_MAX - 1, INT32_MAX};

std::vector<Interval> intervals() {
    std::vector<Interval> out;
    for (int64_t lo : kNumbers)
        for (int64_t hi : kNumbers)
            if (lo <= hi) out.push_back({lo, hi});
    return out;
}

TEST(ValueBounds, HoldWhatTheOperationGives) {
    for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max, Op::Div, Op::Mod, Op::And, Op::Or,
                  Op::Xor, Op::ShiftLeft, Op::ShiftRight})
        for (const Interval& a : intervals())
            for (const Interval& b : intervals()) {
                const Interval made = interval_of(op, std::vector{a, b});
                if (!contains(kAnyI32, made)) continue;  // it may wrap around
                for (int64_t x : kNumbers)
                    for (int64_t y : kNumbers)
                        if (contains(a, x) && contains(b, y)) {
                            const int64_t value =
                                evaluate(op, i32, std::vector{scalar_int(x), scalar_int(y)}).i;
                            ASSERT_TRUE(contains(made, value))
                                << info(op).name << " of " << x << " in [" << a.lo << ", " << a.hi
                                << "] and " << y << " in [" << b.lo << ", " << b.hi << "] is "
                                << value << ", not in [" << made.lo << ", " << made.hi << "]";
                        }
            }
}
TEST(ValueBounds, OfOneInput) {
    for (Op op : {Op::Neg, Op::Abs, Op::Sign, Op::BitNot, Op::Cast})
        for (const Interval& a : intervals()) {
            const Interval made = interval_of(op, std::vector{a});
            if (!contains(kAnyI32, made)) continue;
            for (int64_t x : kNumbers) {
                if (!contains(a, x)) continue;
                const int64_t value = evaluate(op, i32, std::vector{scalar_int(x)}).i;
                ASSERT_TRUE(contains(made, value)) << info(op).name << " of " << x;
            }
        }
}
TEST(ValueBounds, SayWhatIsKnown) {
    const auto of = [](Op op, const Interval& a, const Interval& b) {
        return interval_of(op, std::vector{a, b});
    };
    EXPECT_EQ(of(Op::Div, {5, 9}, {1, 2}), (Interval{2, 9}));
    EXPECT_EQ(of(Op::Div, {-5, 9}, {1, 2}), kAnyI32);  // rounded towards 0
    EXPECT_EQ(of(Op::Mod, {5, 9}, {1, 7}), (Interval{0, 6}));
    EXPECT_EQ(of(Op::And, {0, 12}, {3, 5}), (Interval{0, 5}));
    EXPECT_EQ(of(Op::ShiftRight, {0, 12}, {-1, 1}), (Interval{0, 12}));
    EXPECT_EQ(interval_of(Op::Select, std::vector<Interval>{{0, 1}, {3, 4}, {-2, 3}}),
              (Interval{-2, 4}));
}

}  // namespace
}  // namespace firn
