// Which choices inside choices are made.
#include <gtest/gtest.h>

#include "compiler/passes/passes.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

TEST(NestedChoices, AssignmentsUnderOneMaskAreChosenOnce) {
    check(nested_choices, R"(graph(%0: bool[4], %1: f32[4]) {
    %2: f32[4] = Sin %1
    %3: f32[4] = Select %0, %2, %1
    %4: f32[4] = Cos %3
    %5: f32[4] = Select %0, %4, %3
    return %5
}
)",
          R"(graph(%0: bool[4], %1: f32[4]) {
    %2: f32[4] = Sin %1
    %3: f32[4] = Cos %2
    %4: f32[4] = Select %0, %3, %1
    return %4
}
)");
}

TEST(NestedChoices, WhatFollowsFromAConditionIsKnownToo) {
    check(nested_choices, R"(graph(%0: bool[4], %1: bool[4], %2: f32[4]) {
    %3: bool[4] = And %0, %1
    %4: f32[4] = Sin %2
    %5: f32[4] = Select %0, %4, %2
    %6: f32[4] = Cos %5
    %7: f32[4] = Select %3, %6, %5
    return %7
}
)",
          R"(graph(%0: bool[4], %1: bool[4], %2: f32[4]) {
    %3: bool[4] = And %0, %1
    %4: f32[4] = Sin %2
    %5: f32[4] = Cos %4
    %6: f32[4] = Select %0, %4, %2
    %7: f32[4] = Select %3, %5, %6
    return %7
}
)");
}

TEST(NestedChoices, TheOtherSideOfABranch) {
    check(nested_choices, R"(graph(%0: bool[4], %1: f32[4]) {
    %2: bool[4] = Not %0
    %3: f32[4] = Sin %1
    %4: f32[4] = Select %0, %3, %1
    %5: f32[4] = Cos %4
    %6: f32[4] = Select %2, %5, %4
    return %6
}
)",
          R"(graph(%0: bool[4], %1: f32[4]) {
    %2: bool[4] = Not %0
    %3: f32[4] = Cos %1
    %4: f32[4] = Sin %1
    %5: f32[4] = Select %2, %3, %4
    return %5
}
)");
}

TEST(NestedChoices, NeighboursReadWhatWasChosen) {
    const char* text = R"(graph(%0: bool[4], %1: f32[4]) {
    %2: f32[4] = Sin %1
    %3: f32[4] = Select %0, %2, %1
    %4: i32[4] = Index axis=0
    %5: i32 = Constant 1
    %6: i32[4] = Expand %5
    %7: i32[4] = Add %4, %6
    %8: f32[4] = Gather %3, %7 modes=[clamp] fill=0.0
    %9: f32[4] = Select %0, %8, %1
    return %9
}
)";
    check(nested_choices, text, text);
}

TEST(NestedChoices, ALoopOfElementsRunsWithoutTheMaskAroundIt) {
    check(nested_choices, R"(graph(%0: bool[4], %1: f32[4]) {
    %2: i32 = Constant 0
    %3: i32 = Constant 5
    %4: i32 = Constant 1
    %5 = Loop %2, %3, %4, %1 (%6: i32, %7: f32[4]) {
        %8: f32[4] = Sin %7
        %9: f32[4] = Select %0, %8, %7
        yield %9
    }
    %10: f32[4] = Result %5 index=0
    return %10
}
)",
          R"(graph(%0: bool[4], %1: f32[4]) {
    %2: i32 = Constant 0
    %3: i32 = Constant 5
    %4: i32 = Constant 1
    %5 = Loop %2, %3, %4, %1 (%6: i32, %7: f32[4]) {
        %8: f32[4] = Sin %7
        yield %8
    }
    %9: f32[4] = Result %5 index=0
    %10: f32[4] = Select %0, %9, %1
    return %10
}
)");
}

TEST(NestedChoices, ALoopThatReadsNeighboursKeepsItsMask) {
    const char* text = R"(graph(%0: bool[4], %1: f32[4]) {
    %2: i32 = Constant 0
    %3: i32 = Constant 5
    %4: i32 = Constant 1
    %5 = Loop %2, %3, %4, %1 (%6: i32, %7: f32[4]) {
        %8: i32[4] = Index axis=0
        %9: i32[4] = Expand %4
        %10: i32[4] = Add %8, %9
        %11: f32[4] = Gather %7, %10 modes=[clamp] fill=0.0
        %12: f32[4] = Select %0, %11, %7
        yield %12
    }
    %13: f32[4] = Result %5 index=0
    return %13
}
)";
    check(nested_choices, text, text);
}

}  // namespace
}  // namespace firn
