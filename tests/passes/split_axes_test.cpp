// Axes that are split into the quotients and the remainders of their index.
#include <gtest/gtest.h>

#include <string>

#include "compiler/ir/text.h"
#include "compiler/passes/passes.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

int splits(const std::string& text) {
    NodeTable table;
    RuleCounts fired;
    split_axes(table, parse(table, text), &fired);
    return fired.empty() ? 0 : fired.begin()->second;
}

/// `sum of x(k / 3, k % 3)` along an axis of `extent` indices, or with another `index` computed
/// from k.
std::string window(const std::string& extent, const std::string& index) {
    const std::string type = "i32[4, " + extent + "]";
    return "graph(%0: i32[3, 3]) {\n    %1: " + type +
           " = Index axis=1\n    %2: i32 = Constant 3\n    %3: " + type +
           " = Expand %2\n    %4: " + type + " = Div %1, %3\n    %5: " + type + " = " + index +
           "\n    %6: " + type + " = Gather %0, %4, %5 modes=[clamp, clamp] fill=0\n" +
           "    %7: i32[4] = Reduce %6 op=sum axes=[1]\n    return %7\n}\n";
}

TEST(SplitAxes, APixelOfAWindowHasARowAndAColumn) {
    check(split_axes, window("9", "Mod %1, %3"), R"(graph(%0: i32[3, 3]) {
    %1: i32[4, 3, 3] = Index axis=1
    %2: i32[4, 3, 3] = Index axis=2
    %3: i32[4, 3, 3] = Gather %0, %1, %2 modes=[clamp, clamp] fill=0
    %4: i32[4] = Reduce %3 op=sum axes=[1, 2]
    return %4
}
)");
}

TEST(SplitAxes, WhatIsReadOtherwiseStays) {
    EXPECT_EQ(splits(window("9", "Mod %1, %3")), 1);
    EXPECT_EQ(splits(window("10", "Mod %1, %3")), 0);  // the last window is not whole
    EXPECT_EQ(splits(window("n", "Mod %1, %3")), 0);
    EXPECT_EQ(splits(window("3", "Mod %1, %3")), 0);  // there is one quotient
    EXPECT_EQ(splits(window("9", "Add %1, %3")), 0);  // asks for the index itself
}

TEST(SplitAxes, DivisorsOfDivisorsAreSplitToo) {
    // Every place of a 2 x 3 x 4 block, counted as one number.
    check(split_axes, R"(graph(%0: i32[2, 3, 4]) {
    %1: i32[24] = Index axis=0
    %2: i32 = Constant 12
    %3: i32[24] = Expand %2
    %4: i32[24] = Div %1, %3
    %5: i32[24] = Mod %1, %3
    %6: i32 = Constant 4
    %7: i32[24] = Expand %6
    %8: i32[24] = Mod %1, %7
    %9: i32[24] = Gather %0, %4, %5, %8 modes=[clamp, wrap, clamp] fill=0
    %10: i32 = Reduce %9 op=max axes=[0]
    return %10
}
)",
          R"(graph(%0: i32[2, 3, 4]) {
    %1: i32[2, 3, 4] = Index axis=0
    %2: i32[2, 3, 4] = Index axis=1
    %3: i32 = Constant 4
    %4: i32[2, 3, 4] = Expand %3
    %5: i32[2, 3, 4] = Mul %2, %4
    %6: i32[2, 3, 4] = Index axis=2
    %7: i32[2, 3, 4] = Add %5, %6
    %8: i32[2, 3, 4] = Gather %0, %1, %7, %6 modes=[clamp, wrap, clamp] fill=0
    %9: i32 = Reduce %8 op=max axes=[0, 1, 2]
    return %9
}
)");
}

TEST(SplitAxes, PositionsOfStoresAreSplit) {
    check(split_axes, R"(graph(%0: i32[5], %1: i32[3]) {
    %2: i32[6] = Index axis=0
    %3: i32 = Constant 2
    %4: i32[6] = Expand %3
    %5: i32[6] = Div %2, %4
    %6: i32[6] = Gather %1, %5 modes=[clamp] fill=0
    %7: i32[6] = Mod %2, %4
    %8: i32[6] = Add %7, %5
    %9: i32[5] = Scatter %0, %6, %8 op=add
    return %9
}
)",
          R"(graph(%0: i32[5], %1: i32[3]) {
    %2: i32[3, 2] = Index axis=0
    %3: i32[3, 2] = Gather %1, %2 modes=[clamp] fill=0
    %4: i32[3, 2] = Index axis=1
    %5: i32[3, 2] = Add %4, %2
    %6: i32[5] = Scatter %0, %3, %5 op=add
    return %6
}
)");
}

}  // namespace
}  // namespace firn
