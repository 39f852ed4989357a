// Text in, text out for every pass, and equal results from the oracle before and after.
#include "compiler/passes/passes.h"

#include <gtest/gtest.h>

#include "compiler/ir/text.h"
#include "compiler/program/error.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

// --- branches_to_select --------------------------------------------------------------------------

TEST(BranchesToSelect, APlainBranch) {
    check(branches_to_select, R"(graph(%0: bool, %1: f32[4], %2: f32) {
    %3 = If %0 {
        %4: f32[4] = Sin %1
        yield %4
    } else {
        yield %2
    }
    %5: f32[4] = Result %3 index=0
    return %5
}
)",
          R"(graph(%0: bool, %1: f32[4], %2: f32) {
    %3: bool[4] = Expand %0
    %4: f32[4] = Sin %1
    %5: f32[4] = Expand %2
    %6: f32[4] = Select %3, %4, %5
    return %6
}
)");
}

TEST(BranchesToSelect, NestedBranches) {
    check(branches_to_select, R"(graph(%0: bool[4], %1: bool[4], %2: f32[4]) {
    %3 = If %0 {
        %4 = If %1 {
            %5: f32[4] = Sin %2
            yield %5
        } else {
            yield %2
        }
        %6: f32[4] = Result %4 index=0
        yield %6
    } else {
        %7: f32[4] = Cos %2
        yield %7
    }
    %8: f32[4] = Result %3 index=0
    return %8
}
)",
          R"(graph(%0: bool[4], %1: bool[4], %2: f32[4]) {
    %3: f32[4] = Sin %2
    %4: f32[4] = Select %1, %3, %2
    %5: f32[4] = Cos %2
    %6: f32[4] = Select %0, %4, %5
    return %6
}
)");
}

const char* const kLoopInABranch = R"(graph(%0: bool%SHAPE%, %1: f32[4]) {
    %2 = If %0 {
        %3: i32 = Constant 0
        %4: i32 = Constant 3
        %5: i32 = Constant 1
        %6 = Loop %3, %4, %5, %1 (%7: i32, %8: f32[4]) {
            %9: f32[4] = Sin %8
            yield %9
        }
        %10: f32[4] = Result %6 index=0
        yield %10
    } else {
        yield %1
    }
    %11: f32[4] = Result %2 index=0
    return %11
}
)";
std::string with_shape(std::string text, const std::string& shape) {
    return text.replace(text.find("%SHAPE%"), 7, shape);
}

TEST(BranchesToSelect, AScalarConditionOverALoopStays) {
    std::string text = with_shape(kLoopInABranch, "");
    check(branches_to_select, text, text);
}

TEST(BranchesToSelect, AShapedConditionOverALoopBecomesASelect) {
    check(branches_to_select, with_shape(kLoopInABranch, "[4]"), R"(graph(%0: bool[4], %1: f32[4]) {
    %2: i32 = Constant 0
    %3: i32 = Constant 3
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

TEST(BranchesToSelect, AnUncheckedReadThatLosesItsConditionIsClamped) {
    check(branches_to_select, R"(graph(%0: bool, %1: f32[4, 3], %2: i32[3]) {
    %3 = If %0 {
        %4: i32 = Constant 3
        %5: i32[3] = Expand %4
        %6: i32[3] = And %2, %5
        %7: i32[3] = Index axis=0
        %8: f32[3] = Gather %1, %6, %7 modes=[unchecked, unchecked] fill=0.0
        yield %8
    } else {
        %9: f32 = Constant 0.0
        yield %9
    }
    %10: f32[3] = Result %3 index=0
    return %10
}
)",
          R"(graph(%0: bool, %1: f32[4, 3], %2: i32[3]) {
    %3: bool[3] = Expand %0
    %4: i32 = Constant 3
    %5: i32[3] = Expand %4
    %6: i32[3] = And %2, %5
    %7: i32[3] = Index axis=0
    %8: f32[3] = Gather %1, %6, %7 modes=[clamp, unchecked] fill=0.0
    %9: f32 = Constant 0.0
    %10: f32[3] = Expand %9
    %11: f32[3] = Select %3, %8, %10
    return %11
}
)");
}

TEST(BranchesToSelect, ABranchInsideALoop) {
    check(branches_to_select, R"(graph(%0: f32[4], %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4 = Loop %2, %1, %3, %0 (%5: i32, %6: f32[4]) {
        %7: bool = Less %5, %3
        %8 = If %7 {
            %9: f32[4] = Neg %6
            yield %9
        } else {
            yield %6
        }
        %10: f32[4] = Result %8 index=0
        yield %10
    }
    %11: f32[4] = Result %4 index=0
    return %11
}
)",
          R"(graph(%0: f32[4], %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4 = Loop %2, %1, %3, %0 (%5: i32, %6: f32[4]) {
        %7: bool = Less %5, %3
        %8: bool[4] = Expand %7
        %9: f32[4] = Neg %6
        %10: f32[4] = Select %8, %9, %6
        yield %10
    }
    %11: f32[4] = Result %4 index=0
    return %11
}
)");
}

// --- dead_loop_values ----------------------------------------------------------------------------

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

// --- the runner ----------------------------------------------------------------------------------

const char* const kSmall = R"(graph(%0: bool, %1: i32[4]) {
    %2 = If %0 {
        %3: i32 = Constant 0
        %4: i32[4] = Expand %3
        %5: i32[4] = Add %1, %4
        yield %5
    } else {
        yield %1
    }
    %6: i32[4] = Result %2 index=0
    return %6
}
)";

TEST(RunPasses, RunsTheTableInOrderAndReports) {
    NodeTable table;
    std::vector<PassRun> runs;
    std::vector<std::string> dumped;
    PassOptions options{.dump = [&](const std::string& pass, const Graph&) { dumped.push_back(pass); }};
    Graph out = run_passes(table, parse(table, kSmall), options, &runs);
    EXPECT_EQ(print(out), "graph(%0: bool, %1: i32[4]) {\n    return %1\n}\n");
    EXPECT_EQ(dumped, (std::vector<std::string>{"input", "branches_to_select", "dead_loop_values", "simplify"}));
    ASSERT_EQ(runs.size(), 3u);
    EXPECT_EQ(runs[0].fired, (RuleCounts{{"branch to select", 1}}));
    EXPECT_EQ(runs[2].fired, (RuleCounts{{"x + 0", 1}, {"c ? x : x", 1}}));
    EXPECT_LT(runs[2].nodes_after, runs[2].nodes_before);
}

TEST(RunPasses, AnUnsoundGraphIsReportedAsTheInputs) {
    NodeTable table;
    Ref x = table.intern(Op::Input, f32, {4}, {}, InputAttr{0});
    Graph bad{{x}, {table.intern(Op::Sin, f32, {5}, {x})}, {}};
    try {
        run_passes(table, bad);
        FAIL();
    } catch (const InternalError& error) {
        EXPECT_NE(std::string(error.what()).find("after input"), std::string::npos) << error.what();
    }
}

TEST(RunPasses, KeepsTheGuards) {
    NodeTable table;
    Graph g = parse(table, "graph(%0: f32[n], %1: f32[m]) {\n    guard n == m \"no\"\n    return %0\n}\n");
    EXPECT_EQ(run_passes(table, g).guards.size(), 1u);
}

}  // namespace
}  // namespace firn
