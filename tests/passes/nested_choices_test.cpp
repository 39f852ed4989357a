// Selects inside selects that are decided.
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

TEST(NestedChoices, WhatTheOtherSideNeedsAsItWasIsNotMadeAgain) {
    const char* text = R"(graph(%0: bool[4], %1: bool[4], %2: bool[4], %3: f32[4]) {
    %4: bool[4] = And %0, %2
    %5: bool[4] = And %0, %1
    %6: f32[4] = Sin %3
    %7: f32[4] = Select %5, %6, %3
    %8: f32[4] = Cos %7
    %9: f32[4] = Select %4, %8, %7
    return %9
}
)";
    check(nested_choices, text, text);
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

// A carried value decides, and then stays unchanged: numpy's way to continue with a part of an
// array.
TEST(NestedChoices, ALoopThatChangesNothingAnyMoreEnds) {
    check(nested_choices, R"(graph(%0: f32[4]) {
    %1: i32 = Constant 0
    %2: i32 = Constant 50
    %3: i32 = Constant 1
    %4: f32 = Constant 0.0
    %5: f32[4] = Expand %4
    %6 = Loop %1, %2, %3, %0, %5 (%7: i32, %8: f32[4], %9: f32[4]) {
        %10: f32 = Constant 9.0
        %11: f32[4] = Expand %10
        %12: bool[4] = Less %8, %11
        %13: f32[4] = Mul %8, %8
        %14: f32[4] = Select %12, %13, %8
        %15: f32 = Constant 1.0
        %16: f32[4] = Expand %15
        %17: f32[4] = Select %12, %16, %5
        %18: f32[4] = Add %9, %17
        yield %14, %18
    }
    %19: f32[4] = Result %6 index=0
    %20: f32[4] = Result %6 index=1
    return %19, %20
}
)",
          R"(graph(%0: f32[4]) {
    %1: i32 = Constant 0
    %2: i32 = Constant 50
    %3: i32 = Constant 1
    %4: f32 = Constant 0.0
    %5: f32[4] = Expand %4
    %6: bool = Constant true
    %7: bool[4] = Expand %6
    %8 = Loop %1, %2, %3, %0, %5, %7 active=2 (%9: i32, %10: f32[4], %11: f32[4], %12: bool[4]) {
        %13: f32 = Constant 9.0
        %14: f32[4] = Expand %13
        %15: bool[4] = Less %10, %14
        %16: f32[4] = Mul %10, %10
        %17: f32[4] = Select %15, %16, %10
        %18: f32 = Constant 1.0
        %19: f32[4] = Expand %18
        %20: f32[4] = Select %15, %19, %5
        %21: f32[4] = Add %11, %20
        yield %17, %21, %15
    }
    %22: f32[4] = Result %8 index=0
    %23: f32[4] = Result %8 index=1
    return %22, %23
}
)");
}

// A flag that falls once ends its loop in the iteration in which it falls.
TEST(NestedChoices, ALoopEndsWithTheFlagThatItCarries) {
    check(nested_choices, R"(graph(%0: f32[4], %1: bool[4]) {
    %2: i32 = Constant 0
    %3: i32 = Constant 50
    %4: i32 = Constant 1
    %5 = Loop %2, %3, %4, %0, %1 (%6: i32, %7: f32[4], %8: bool[4]) {
        %9: f32[4] = Sin %7
        %10: f32[4] = Select %8, %9, %7
        %11: f32 = Cast %6
        %12: f32[4] = Expand %11
        %13: bool[4] = Less %12, %10
        %14: bool[4] = And %8, %13
        yield %10, %14
    }
    %15: f32[4] = Result %5 index=0
    return %15
}
)",
          R"(graph(%0: f32[4], %1: bool[4]) {
    %2: i32 = Constant 0
    %3: i32 = Constant 50
    %4: i32 = Constant 1
    %5 = Loop %2, %3, %4, %0, %1 active=1 (%6: i32, %7: f32[4], %8: bool[4]) {
        %9: f32[4] = Sin %7
        %10: f32[4] = Select %8, %9, %7
        %11: f32 = Cast %6
        %12: f32[4] = Expand %11
        %13: bool[4] = Less %12, %10
        %14: bool[4] = And %8, %13
        yield %10, %14
    }
    %15: f32[4] = Result %5 index=0
    return %15
}
)");
}

// A loop that only adds zeros stands still from the next iteration on: it turns -0 into 0.
TEST(NestedChoices, ALoopThatAddsZerosEndsAnIterationLater) {
    check(nested_choices, R"(graph(%0: f32[4], %1: bool[4]) {
    %2: i32 = Constant 0
    %3: i32 = Constant 50
    %4: i32 = Constant 1
    %5 = Loop %2, %3, %4, %0, %1 (%6: i32, %7: f32[4], %8: bool[4]) {
        %9: f32[4] = Cast %8
        %10: f32[4] = Add %7, %9
        %11: f32 = Cast %6
        %12: f32[4] = Expand %11
        %13: bool[4] = Less %12, %10
        %14: bool[4] = And %8, %13
        yield %10, %14
    }
    %15: f32[4] = Result %5 index=0
    return %15
}
)",
          R"(graph(%0: f32[4], %1: bool[4]) {
    %2: i32 = Constant 0
    %3: i32 = Constant 50
    %4: i32 = Constant 1
    %5: bool = Constant true
    %6: bool[4] = Expand %5
    %7 = Loop %2, %3, %4, %0, %1, %6 active=2 (%8: i32, %9: f32[4], %10: bool[4], %11: bool[4]) {
        %12: f32[4] = Cast %10
        %13: f32[4] = Add %9, %12
        %14: f32 = Cast %8
        %15: f32[4] = Expand %14
        %16: bool[4] = Less %15, %13
        %17: bool[4] = And %10, %16
        yield %13, %17, %10
    }
    %18: f32[4] = Result %7 index=0
    return %18
}
)");
}

// The iteration decides too, so an element that stands still may continue later. A value that is
// not chosen never stands still.
TEST(NestedChoices, ALoopThatMayGoOnLaterKeepsItsIterations) {
    const char* later = R"(graph(%0: f32[4]) {
    %1: i32 = Constant 0
    %2: i32 = Constant 50
    %3: i32 = Constant 1
    %4 = Loop %1, %2, %3, %0 (%5: i32, %6: f32[4]) {
        %7: f32 = Cast %5
        %8: f32[4] = Expand %7
        %9: bool[4] = Less %6, %8
        %10: f32[4] = Mul %6, %6
        %11: f32[4] = Select %9, %10, %6
        yield %11
    }
    %12: f32[4] = Result %4 index=0
    return %12
}
)";
    check(nested_choices, later, later);
    const char* moves = R"(graph(%0: f32[4]) {
    %1: i32 = Constant 0
    %2: i32 = Constant 50
    %3: i32 = Constant 1
    %4 = Loop %1, %2, %3, %0, %0 (%5: i32, %6: f32[4], %7: f32[4]) {
        %8: bool[4] = Less %6, %7
        %9: f32[4] = Mul %6, %6
        %10: f32[4] = Select %8, %9, %6
        %11: f32[4] = Sin %7
        yield %10, %11
    }
    %12: f32[4] = Result %4 index=0
    return %12
}
)";
    check(nested_choices, moves, moves);
}

/// A value that both sides of a choice need unchanged, such as the derivative of a function of a
/// choice, after which both sides have a cotangent.
TEST(NestedChoices, WhatBothSidesNeedIsNotComputedForEach) {
    const char* both = R"(graph(%0: f32[4], %1: bool[4], %2: f32[4]) {
    %3: f32[4] = Sin %0
    %4: f32[4] = Exp %0
    %5: f32[4] = Select %1, %3, %4
    %6: f32[4] = Cos %5
    %7: f32[4] = Mul %2, %6
    %8: f32[4] = Select %1, %7, %0
    %9: f32[4] = Select %1, %0, %7
    return %8, %9
}
)";
    check(nested_choices, both, both);
}

TEST(NestedChoices, WhatSeveralKnowAlikeIsChosenOnce) {
    check(nested_choices, R"(graph(%0: f32[4], %1: bool[4], %2: f32[4]) {
    %3: f32[4] = Sin %0
    %4: f32[4] = Exp %0
    %5: f32[4] = Select %1, %3, %4
    %6: f32[4] = Cos %5
    %7: f32[4] = Mul %2, %6
    %8: f32[4] = Select %1, %7, %0
    %9: f32[4] = Add %0, %6
    %10: f32[4] = Select %1, %9, %2
    return %8, %10
}
)",
          R"(graph(%0: f32[4], %1: bool[4], %2: f32[4]) {
    %3: f32[4] = Sin %0
    %4: f32[4] = Cos %3
    %5: f32[4] = Mul %2, %4
    %6: f32[4] = Select %1, %5, %0
    %7: f32[4] = Add %0, %4
    %8: f32[4] = Select %1, %7, %2
    return %6, %8
}
)");
}

}  // namespace
}  // namespace firn
