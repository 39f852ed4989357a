// The masks of Loops, written out.
#include <gtest/gtest.h>

#include "compiler/passes/passes.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

TEST(FreezeInactive, CarriedValuesOfAnyShapeAndTheActiveOne) {
    check(freeze_inactive, R"(graph(%0: f32[3, n], %1: f32[n], %2: bool[n]) {
    %3: i32 = Constant 0
    %4: i32 = Constant 3
    %5: i32 = Constant 1
    %6 = Loop %3, %4, %5, %0, %1, %2 active=2 (%7: i32, %8: f32[3, n], %9: f32[n], %10: bool[n]) {
        %11: f32[3, n] = Sin %8
        %12: f32[n] = Cos %9
        %13: bool[n] = Less %12, %9
        yield %11, %12, %13
    }
    %14: f32[3, n] = Result %6 index=0
    %15: f32[n] = Result %6 index=1
    return %14, %15
}
)",
          R"(graph(%0: f32[3, n], %1: f32[n], %2: bool[n]) {
    %3: i32 = Constant 0
    %4: i32 = Constant 3
    %5: i32 = Constant 1
    %6 = Loop %3, %4, %5, %0, %1, %2 active=2 (%7: i32, %8: f32[3, n], %9: f32[n], %10: bool[n]) {
        %11: bool[3, n] = Expand %10
        %12: f32[3, n] = Sin %8
        %13: f32[3, n] = Select %11, %12, %8
        %14: f32[n] = Cos %9
        %15: f32[n] = Select %10, %14, %9
        %16: bool[n] = Less %14, %9
        %17: bool[n] = And %10, %16
        yield %13, %15, %17
    }
    %18: f32[3, n] = Result %6 index=0
    %19: f32[n] = Result %6 index=1
    return %18, %19
}
)");
}

TEST(FreezeInactive, WhatIsFrozenAlreadyStays) {
    std::string text = R"(graph(%0: f32[n], %1: bool[n], %2: f32[n]) {
    %3: i32 = Constant 0
    %4: i32 = Constant 3
    %5: i32 = Constant 1
    %6 = Loop %3, %4, %5, %0, %1, %2 active=1 (%7: i32, %8: f32[n], %9: bool[n], %10: f32[n]) {
        %11: f32[n] = Sin %8
        %12: f32[n] = Select %9, %11, %8
        %13: bool[n] = Less %11, %8
        %14: bool = Constant false
        %15: bool[n] = Expand %14
        %16: bool[n] = Less %8, %11
        %17: bool[n] = Select %16, %15, %9
        %18: bool[n] = Select %13, %15, %17
        yield %12, %18, %10
    }
    %19: f32[n] = Result %6 index=0
    return %19
}
)";
    check(freeze_inactive, text, text);
}

TEST(FreezeInactive, ALoopWithoutAnActiveValueStays) {
    std::string text = R"(graph(%0: f32[n]) {
    %1: i32 = Constant 0
    %2: i32 = Constant 3
    %3: i32 = Constant 1
    %4 = Loop %1, %2, %3, %0 (%5: i32, %6: f32[n]) {
        %7: f32[n] = Sin %6
        yield %7
    }
    %8: f32[n] = Result %4 index=0
    return %8
}
)";
    check(freeze_inactive, text, text);
}

}  // namespace
}  // namespace firn
