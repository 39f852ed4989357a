// Carried values that leave the region around their Loop.
#include <gtest/gtest.h>

#include "compiler/passes/passes.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

// Two loops inside one: the weighted values need the outer one, their weights do not. (The text
// stands at the first use; nodes that need no argument of a region are not inside of it.)
TEST(HoistCarried, WeightsBesideWhatTheyWeigh) {
    check(hoist_carried, R"(graph(%0: f32[4], %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4 = Loop %2, %1, %3, %0 (%5: i32, %6: f32[4]) {
        %7: f32 = Constant 0.0
        %8 = Loop %2, %1, %3, %6, %7 (%9: i32, %10: f32[4], %11: f32) {
            %12 = Loop %2, %1, %3, %10, %11 (%13: i32, %14: f32[4], %15: f32) {
                %16: i32 = Mul %9, %13
                %17: f32 = Cast %16
                %18: f32[4] = Expand %17
                %19: f32[4] = Mul %14, %18
                %20: f32 = Add %15, %17
                yield %19, %20
            }
            %21: f32[4] = Result %12 index=0
            %22: f32 = Result %12 index=1
            yield %21, %22
        }
        %23: f32[4] = Result %8 index=0
        %24: f32 = Result %8 index=1
        %25: f32[4] = Expand %24
        %26: f32[4] = Div %23, %25
        yield %26
    }
    %27: f32[4] = Result %4 index=0
    return %27
}
)",
          R"(graph(%0: f32[4], %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4 = Loop %2, %1, %3, %0 (%5: i32, %6: f32[4]) {
        %7 = Loop %2, %1, %3, %6 (%8: i32, %9: f32[4]) {
            %10 = Loop %2, %1, %3, %9 (%11: i32, %12: f32[4]) {
                %13: i32 = Mul %8, %11
                %14: f32 = Cast %13
                %15: f32[4] = Expand %14
                %16: f32[4] = Mul %12, %15
                yield %16
            }
            %17: f32[4] = Result %10 index=0
            yield %17
        }
        %18: f32[4] = Result %7 index=0
        %19: f32 = Constant 0.0
        %20 = Loop %2, %1, %3, %19 (%21: i32, %22: f32) {
            %23 = Loop %2, %1, %3, %22 (%24: i32, %25: f32) {
                %26: i32 = Mul %21, %24
                %27: f32 = Cast %26
                %28: f32 = Add %25, %27
                yield %28
            }
            %29: f32 = Result %23 index=0
            yield %29
        }
        %30: f32 = Result %20 index=0
        %31: f32[4] = Expand %30
        %32: f32[4] = Div %18, %31
        yield %32
    }
    %33: f32[4] = Result %4 index=0
    return %33
}
)");
}

TEST(HoistCarried, OutOfAKernelByHand) {
    check(hoist_carried, R"(graph(%0: f32[8]) {
    %1: i32 = Constant 0
    %2: i32 = Constant 1
    %3: f32 = Constant 0.0
    %4: f32[8] = Expand %3
    %5 = Loop %1, %2, %2, %4 by_hand grid=[8] group=[8] (%6: i32, %7: f32[8]) {
        %8: i32 = Constant 3
        %9: i32[8] = Invocation %6 axis=0
        %10 = Loop %1, %8, %2, %4, %3 (%11: i32, %12: f32[8], %13: f32) {
            %14: i32[8] = Expand %11
            %15: i32[8] = Add %9, %14
            %16: f32[8] = Gather %0, %15 modes=[clamp] fill=0.0
            %17: f32[8] = Add %12, %16
            %18: f32 = Cast %11
            %19: f32 = Exp %18
            %20: f32 = Add %13, %19
            yield %17, %20
        }
        %21: f32[8] = Result %10 index=0
        %22: f32 = Result %10 index=1
        %23: f32[8] = Expand %22
        %24: f32[8] = Div %21, %23
        %25: f32[8] = Scatter %7, %24, %9 op=last by_hand
        yield %25
    }
    %26: f32[8] = Result %5 index=0
    return %26
}
)",
          R"(graph(%0: f32[8]) {
    %1: i32 = Constant 0
    %2: i32 = Constant 1
    %3: f32 = Constant 0.0
    %4: f32[8] = Expand %3
    %5: i32 = Constant 3
    %6 = Loop %1, %5, %2, %3 (%7: i32, %8: f32) {
        %9: f32 = Cast %7
        %10: f32 = Exp %9
        %11: f32 = Add %8, %10
        yield %11
    }
    %12 = Loop %1, %2, %2, %4 by_hand grid=[8] group=[8] (%13: i32, %14: f32[8]) {
        %15: i32[8] = Invocation %13 axis=0
        %16 = Loop %1, %5, %2, %4 (%17: i32, %18: f32[8]) {
            %19: i32[8] = Expand %17
            %20: i32[8] = Add %15, %19
            %21: f32[8] = Gather %0, %20 modes=[clamp] fill=0.0
            %22: f32[8] = Add %18, %21
            yield %22
        }
        %23: f32[8] = Result %16 index=0
        %24: f32 = Result %6 index=0
        %25: f32[8] = Expand %24
        %26: f32[8] = Div %23, %25
        %27: f32[8] = Scatter %14, %26, %15 op=last by_hand
        yield %27
    }
    %28: f32[8] = Result %12 index=0
    return %28
}
)");
}

// The second value depends on the first one, or begins with a carried value of the outer loop, or
// both stop by the first one; and a loop that is in no region has nothing to leave.
TEST(HoistCarried, WhatNeedsTheRegionStays) {
    const auto nested = [](const std::string& inits, const std::string& attributes,
                           const std::string& next) {
        return R"(graph(%0: i32, %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4: bool = Constant true
    %5 = Loop %2, %1, %3, %0 (%6: i32, %7: i32) {
        %8 = Loop %2, %1, %3, )" +
               inits + ", %4" + attributes +
               R"( (%9: i32, %10: i32, %11: i32, %12: bool) {
            %13: i32 = Mul %10, %9
            %14: i32 = Add %11, )" +
               next + R"(
            %15: bool = Less %13, %9
            yield %13, %14, %15
        }
        %16: i32 = Result %8 index=0
        %17: i32 = Result %8 index=1
        %18: bool = Result %8 index=2
        %19: i32 = Select %18, %16, %17
        yield %19
    }
    %20: i32 = Result %5 index=0
    return %20
}
)";
    };
    const auto fires = [](const std::string& text) {
        NodeTable table;
        RuleCounts fired;
        hoist_carried(table, parse(table, text), &fired);
        return !fired.empty();
    };
    EXPECT_TRUE(fires(nested("%7, %2", "", "%9")));
    EXPECT_FALSE(fires(nested("%7, %2", "", "%10"))) << "made of the first";
    EXPECT_FALSE(fires(nested("%7, %6", "", "%9"))) << "begins with the outer loop's iteration";
    EXPECT_FALSE(fires(nested("%7, %2", " active=2", "%9"))) << "one says when all end";
    EXPECT_FALSE(fires(R"(graph(%0: i32, %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4 = Loop %2, %1, %3, %0, %2 (%5: i32, %6: i32, %7: i32) {
        %8: i32 = Mul %6, %5
        %9: i32 = Add %7, %5
        yield %8, %9
    }
    %10: i32 = Result %4 index=0
    %11: i32 = Result %4 index=1
    %12: i32 = Add %10, %11
    return %12
}
)")) << "in no region";
}

}  // namespace
}  // namespace firn
