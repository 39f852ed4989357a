// Carried values that a Loop loses.
#include <gtest/gtest.h>

#include "compiler/passes/passes.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

TEST(DeadLoopValues, AValueThatNobodyReads) {
    check(dead_loop_values, R"(graph(%0: f32[4], %1: f32[4], %2: i32 scalar) {
    %3: i32 = Constant 0
    %4: i32 = Constant 1
    %5 = Loop %3, %2, %4, %0, %1 (%6: i32, %7: f32[4], %8: f32[4]) {
        %9: f32[4] = Sin %7
        %10: f32[4] = Add %8, %7
        yield %9, %10
    }
    %11: f32[4] = Result %5 index=0
    return %11
}
)",
          R"(graph(%0: f32[4], %1: f32[4], %2: i32 scalar) {
    %3: i32 = Constant 0
    %4: i32 = Constant 1
    %5 = Loop %3, %2, %4, %0 (%6: i32, %7: f32[4]) {
        %8: f32[4] = Sin %7
        yield %8
    }
    %9: f32[4] = Result %5 index=0
    return %9
}
)");
}

TEST(DeadLoopValues, AValueReadOnlyByAnotherStays) {
    std::string text = R"(graph(%0: f32[4], %1: f32[4], %2: i32 scalar) {
    %3: i32 = Constant 0
    %4: i32 = Constant 1
    %5 = Loop %3, %2, %4, %0, %1 (%6: i32, %7: f32[4], %8: f32[4]) {
        %9: f32[4] = Sin %7
        %10: f32[4] = Add %8, %7
        yield %9, %10
    }
    %11: f32[4] = Result %5 index=1
    return %11
}
)";
    check(dead_loop_values, text, text);
}

TEST(DeadLoopValues, TheActiveValueStays) {
    std::string text = R"(graph(%0: f32[4], %1: bool[4], %2: i32 scalar) {
    %3: i32 = Constant 0
    %4: i32 = Constant 1
    %5 = Loop %3, %2, %4, %0, %1 active=1 (%6: i32, %7: f32[4], %8: bool[4]) {
        %9: f32[4] = Sin %7
        %10: bool[4] = Less %9, %7
        yield %9, %10
    }
    %11: f32[4] = Result %5 index=0
    return %11
}
)";
    check(dead_loop_values, text, text);
}

TEST(DeadLoopValues, AValueThatNeverChangesIsSubstituted) {
    check(dead_loop_values, R"(graph(%0: f32[4], %1: f32[4], %2: i32 scalar) {
    %3: i32 = Constant 0
    %4: i32 = Constant 1
    %5 = Loop %3, %2, %4, %1, %0 (%6: i32, %7: f32[4], %8: f32[4]) {
        %9: f32[4] = Mul %8, %7
        yield %7, %9
    }
    %10: f32[4] = Result %5 index=1
    %11: f32[4] = Result %5 index=0
    return %10, %11
}
)",
          R"(graph(%0: f32[4], %1: f32[4], %2: i32 scalar) {
    %3: i32 = Constant 0
    %4: i32 = Constant 1
    %5 = Loop %3, %2, %4, %0 (%6: i32, %7: f32[4]) {
        %8: f32[4] = Mul %7, %1
        yield %8
    }
    %9: f32[4] = Result %5 index=0
    return %9, %1
}
)");
}

TEST(DeadLoopValues, TheSizesOfATurnStayThoughNobodyReadsThem) {
    const char* text = R"(graph() {
    %0: i32 = Constant 0
    %1: i32 = Constant 3
    %2: i32 = Constant 1
    %3 = Loop %0, %1, %2, %0, %0, %0 sizes=[?0(4), ?1(9)] (%4: i32, %5: i32, %6: i32, %7: i32) {
        %8: i32[?1(9)] = Index axis=0
        %9: i32 = Reduce %8 op=sum axes=[0]
        %10: i32 = Add %7, %9
        yield %0, %4, %10
    }
    %11: i32 = Result %3 index=2
    return %11
}
)";
    check(dead_loop_values, text, text);
}

TEST(DeadLoopValues, UnchangedValuesThatSwapAfterStartingEqual) {
    check(dead_loop_values, R"(graph(%0: f32[4], %1: f32[4], %2: i32 scalar) {
    %3: i32 = Constant 0
    %4: i32 = Constant 1
    %5 = Loop %3, %2, %4, %1, %1, %0 (%6: i32, %7: f32[4], %8: f32[4], %9: f32[4]) {
        %10: f32[4] = Add %9, %8
        yield %7, %7, %10
    }
    %11: f32[4] = Result %5 index=2
    return %11
}
)",
          R"(graph(%0: f32[4], %1: f32[4], %2: i32 scalar) {
    %3: i32 = Constant 0
    %4: i32 = Constant 1
    %5 = Loop %3, %2, %4, %0 (%6: i32, %7: f32[4]) {
        %8: f32[4] = Add %7, %1
        yield %8
    }
    %9: f32[4] = Result %5 index=0
    return %9
}
)");
}

TEST(DeadLoopValues, ALoopThatNeverBreaksLosesItsActiveValue) {
    check(dead_loop_values, R"(graph(%0: f32[4], %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4: bool = Constant true
    %5: bool[4] = Expand %4
    %6 = Loop %2, %1, %3, %5, %0 active=0 (%7: i32, %8: bool[4], %9: f32[4]) {
        %10: f32[4] = Sin %9
        yield %8, %10
    }
    %11: f32[4] = Result %6 index=1
    return %11
}
)",
          R"(graph(%0: f32[4], %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4 = Loop %2, %1, %3, %0 (%5: i32, %6: f32[4]) {
        %7: f32[4] = Sin %6
        yield %7
    }
    %8: f32[4] = Result %4 index=0
    return %8
}
)");
}

TEST(DeadLoopValues, AnInnerLoopThatOnlyADeadValueReads) {
    check(dead_loop_values, R"(graph(%0: f32[4], %1: f32[4], %2: i32 scalar) {
    %3: i32 = Constant 0
    %4: i32 = Constant 1
    %5 = Loop %3, %2, %4, %0, %1 (%6: i32, %7: f32[4], %8: f32[4]) {
        %9 = Loop %3, %2, %4, %7, %8 (%10: i32, %11: f32[4], %12: f32[4]) {
            %13: f32[4] = Sin %11
            %14: f32[4] = Cos %12
            yield %13, %14
        }
        %15: f32[4] = Result %9 index=0
        %16: f32[4] = Result %9 index=1
        yield %15, %16
    }
    %17: f32[4] = Result %5 index=1
    return %17
}
)",
          R"(graph(%0: f32[4], %1: f32[4], %2: i32 scalar) {
    %3: i32 = Constant 0
    %4: i32 = Constant 1
    %5 = Loop %3, %2, %4, %1 (%6: i32, %7: f32[4]) {
        %8 = Loop %3, %2, %4, %7 (%9: i32, %10: f32[4]) {
            %11: f32[4] = Cos %10
            yield %11
        }
        %12: f32[4] = Result %8 index=0
        yield %12
    }
    %13: f32[4] = Result %5 index=0
    return %13
}
)");
}

TEST(DeadLoopValues, DeadValuesOfABranch) {
    check(dead_loop_values, R"(graph(%0: bool, %1: f32[4], %2: i32 scalar) {
    %3 = If %0 {
        %4: i32 = Constant 0
        %5: i32 = Constant 1
        %6 = Loop %4, %2, %5, %1, %1 (%7: i32, %8: f32[4], %9: f32[4]) {
            %10: f32[4] = Sin %8
            %11: f32[4] = Cos %9
            yield %10, %11
        }
        %12: f32[4] = Result %6 index=0
        %13: f32[4] = Result %6 index=1
        yield %12, %13
    } else {
        yield %1, %1
    }
    %14: f32[4] = Result %3 index=1
    return %14
}
)",
          R"(graph(%0: bool, %1: f32[4], %2: i32 scalar) {
    %3 = If %0 {
        %4: i32 = Constant 0
        %5: i32 = Constant 1
        %6 = Loop %4, %2, %5, %1 (%7: i32, %8: f32[4]) {
            %9: f32[4] = Cos %8
            yield %9
        }
        %10: f32[4] = Result %6 index=0
        yield %10
    } else {
        yield %1
    }
    %11: f32[4] = Result %3 index=0
    return %11
}
)");
}

}  // namespace
}  // namespace firn
