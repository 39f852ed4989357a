// Structural rules of simplify, and cases in which they must not fire.
#include <gtest/gtest.h>

#include "compiler/ir/builder.h"
#include "compiler/passes/passes.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

void unchanged(const std::string& text) { check(simplify, text, text); }

TEST(Simplify, AFloatPlusZeroStays) {
    unchanged(R"(graph(%0: f32[4]) {
    %1: f32 = Constant 0.0
    %2: f32[4] = Expand %1
    %3: f32[4] = Add %0, %2
    return %3
}
)");
}
TEST(Simplify, AFloatMinusItselfStays) {
    unchanged("graph(%0: f32[4]) {\n    %1: f32[4] = Sub %0, %0\n    return %1\n}\n");
}
TEST(Simplify, AFloatTimesZeroStays) {
    unchanged(R"(graph(%0: f32[4]) {
    %1: f32 = Constant 0.0
    %2: f32[4] = Expand %1
    %3: f32[4] = Mul %0, %2
    return %3
}
)");
}
TEST(Simplify, AFloatComparedWithItselfStays) {
    unchanged("graph(%0: f32[4]) {\n    %1: bool[4] = Equal %0, %0\n    return %1\n}\n");
}
TEST(Simplify, IndexArithmeticStays) {
    unchanged(R"(graph(%0: f32[n, m]) {
    %1: i32[n, m] = Index axis=0
    %2: i32 = Constant 1
    %3: i32[n, m] = Expand %2
    %4: i32[n, m] = Sub %1, %3
    %5: i32[n, m] = Index axis=1
    %6: f32[n, m] = Gather %0, %4, %5 modes=[clamp, clamp] fill=0.0
    return %6
}
)");
}

// --- structure -----------------------------------------------------------------------------------

TEST(Simplify, AReshapeOfARepeatedScalarIsDoneAtOnce) {
    check(simplify, R"(graph(%0: f32) {
    %1: f32[1] = Reshape %0
    %2: f32[5, 2] = Expand %1
    %3: f32[10] = Reshape %2
    return %3
}
)",
          R"(graph(%0: f32) {
    %1: f32[10] = Expand %0
    return %1
}
)");
}

TEST(Simplify, FoldsConstants) {
    check(simplify, R"(graph() {
    %0: f32 = Constant 2.0
    %1: f32[4] = Expand %0
    %2: f32 = Constant 3.0
    %3: f32[4] = Expand %2
    %4: f32[4] = Mul %1, %3
    %5: f32[4] = Sqrt %4
    return %5
}
)",
          R"(graph() {
    %0: f32 = Constant 2.4494898
    %1: f32[4] = Expand %0
    return %1
}
)");
}

TEST(Simplify, ScalarArithmeticIsDoneOnce) {
    check(simplify, R"(graph(%0: f32[n, 4], %1: f32 scalar, %2: f32 scalar) {
    %3: f32[n, 4] = Expand %1
    %4: f32[n, 4] = Expand %2
    %5: f32[n, 4] = Div %3, %4
    %6: f32[n, 4] = Sin %5
    %7: f32[n, 4] = Mul %0, %6
    return %7
}
)",
          R"(graph(%0: f32[n, 4], %1: f32 scalar, %2: f32 scalar) {
    %3: f32 = Div %1, %2
    %4: f32 = Sin %3
    %5: f32[n, 4] = Expand %4
    %6: f32[n, 4] = Mul %0, %5
    return %6
}
)");
}

TEST(Simplify, CastsThatLoseNothingOnTheWay) {
    check(simplify, R"(graph(%0: f16[4], %1: u8[4], %2: i32[4]) {
    %3: f32[4] = Cast %0
    %4: f16[4] = Cast %3
    %5: i32[4] = Cast %1
    %6: f32[4] = Cast %5
    %7: f32[4] = Cast %2
    %8: i32[4] = Cast %7
    return %4, %6, %8
}
)",
          R"(graph(%0: f16[4], %1: u8[4], %2: i32[4]) {
    %3: f32[4] = Cast %1
    %4: f32[4] = Cast %2
    %5: i32[4] = Cast %4
    return %0, %3, %5
}
)");
}

TEST(Simplify, AnIntegerThroughAFloatIntoOneThatWrapsStays) {
    unchanged(R"(graph(%0: u32[4]) {
    %1: f64[4] = Cast %0
    %2: i32[4] = Cast %1
    return %2
}
)");
}

TEST(Simplify, DivisionByAPowerOfTwo) {
    check(simplify, R"(graph(%0: f32[4]) {
    %1: f32 = Constant 8.0
    %2: f32[4] = Expand %1
    %3: f32[4] = Div %0, %2
    %4: f32 = Constant 3.0
    %5: f32[4] = Expand %4
    %6: f32[4] = Div %0, %5
    return %3, %6
}
)",
          R"(graph(%0: f32[4]) {
    %1: f32 = Constant 0.125
    %2: f32[4] = Expand %1
    %3: f32[4] = Mul %0, %2
    %4: f32 = Constant 3.0
    %5: f32[4] = Expand %4
    %6: f32[4] = Div %0, %5
    return %3, %6
}
)");
}

TEST(Simplify, MovementOfMovement) {
    check(simplify, R"(graph(%0: f32[n, 4]) {
    %1: f32[4, n] = Permute %0 axes=[1, 0]
    %2: f32[n, 4] = Permute %1 axes=[1, 0]
    %3: f32[4*n] = Reshape %2
    %4: f32[2, 2*n] = Reshape %3
    %5: f32[8] = Slice %3 begin=[9] step=[-1]
    %6: f32[3] = Slice %5 begin=[1] step=[2]
    %7: f32[1, 3] = Reshape %6
    %8: f32[5, 3] = Expand %7
    %9: f32[2, 5, 3] = Expand %8
    return %4, %9
}
)",
          R"(graph(%0: f32[n, 4]) {
    %1: f32[2, 2*n] = Reshape %0
    %2: f32[4*n] = Reshape %0
    %3: f32[3] = Slice %2 begin=[8] step=[-2]
    %4: f32[1, 3] = Reshape %3
    %5: f32[2, 5, 3] = Expand %4
    return %1, %5
}
)");
}

TEST(Simplify, MovementOfNothing) {
    check(simplify, R"(graph(%0: f32[n, 4]) {
    %1: f32[n, 4] = Reshape %0
    %2: f32[n, 4] = Permute %1 axes=[0, 1]
    %3: f32[n, 4] = Expand %2
    %4: f32[n, 4] = Slice %3 begin=[0, 0] step=[1, 1]
    %5: f32[n, 4] = Pad %4 before=[0, 0] after=[0, 0] value=1.0
    return %5
}
)",
          "graph(%0: f32[n, 4]) {\n    return %0\n}\n");
}

TEST(Simplify, MovementOfARepeatedScalar) {
    check(simplify, R"(graph(%0: f32 scalar) {
    %1: f32[n, 4] = Expand %0
    %2: f32[4, n] = Permute %1 axes=[1, 0]
    %3: f32[4*n] = Reshape %2
    return %3
}
)",
          "graph(%0: f32 scalar) {\n    %1: f32[4*n] = Expand %0\n    return %1\n}\n");
}

TEST(Simplify, SizesThatOnlyAGuardMakesEqual) {
    check(simplify, R"(graph(%0: f32[n], %1: f32[k]) {
    guard k == n "no"
    %2: f32[n] = Slice %1 begin=[0] step=[1]
    %3: f32[n] = Slice %2 begin=[0] step=[1]
    %4: f32[n] = Add %0, %3
    return %4
}
)",
          R"(graph(%0: f32[n], %1: f32[k]) {
    guard k == n "no"
    %2: f32[n] = Slice %1 begin=[0] step=[1]
    %3: f32[n] = Add %0, %2
    return %3
}
)");
}

TEST(Simplify, ReadsAndStoresOfEveryElement) {
    check(simplify, R"(graph(%0: f32[n, 4], %1: f32[n, 4]) {
    %2: i32[n, 4] = Index axis=0
    %3: i32[n, 4] = Index axis=1
    %4: f32[n, 4] = Gather %1, %2, %3 modes=[clamp, wrap] fill=0.0
    %5: f32[n, 4] = Scatter %0, %4, %2, %3 op=last
    %6: f32[n, 4] = Scatter %0, %1, %2, %3 op=add
    %7: f32[n, 4] = Scatter %0, %1, %2, %3 op=min
    %8: f32[n, 4] = Scatter %0, %1, %2, %3 op=max
    return %5, %6, %7, %8
}
)",
          R"(graph(%0: f32[n, 4], %1: f32[n, 4]) {
    %2: f32[n, 4] = Add %0, %1
    %3: f32[n, 4] = Min %0, %1
    %4: f32[n, 4] = Max %0, %1
    return %1, %2, %3, %4
}
)");
}

TEST(Simplify, ReadsAndStoresOfOtherElementsStay) {
    // The axes are swapped, and the store covers a part.
    unchanged(R"(graph(%0: f32[4, 4], %1: f32[2, 4]) {
    %2: i32[4, 4] = Index axis=1
    %3: i32[4, 4] = Index axis=0
    %4: f32[4, 4] = Gather %0, %2, %3 modes=[clamp, clamp] fill=0.0
    %5: i32[2, 4] = Index axis=0
    %6: i32[2, 4] = Index axis=1
    %7: f32[4, 4] = Scatter %0, %1, %5, %6 op=last
    return %4, %7
}
)");
}

TEST(Simplify, OneOfStackedPartsIsRead) {
    check(simplify, R"(graph(%0: f32[4, 5], %1: f32[4, 5]) {
    %2: i32[2, 4, 5] = Index axis=0
    %3: i32 = Constant 1
    %4: i32[2, 4, 5] = Expand %3
    %5: bool[2, 4, 5] = Less %2, %4
    %6: f32[1, 4, 5] = Reshape %0
    %7: f32[2, 4, 5] = Pad %6 before=[0, 0, 0] after=[1, 0, 0] value=0.0
    %8: f32[1, 4, 5] = Reshape %1
    %9: f32[2, 4, 5] = Pad %8 before=[1, 0, 0] after=[0, 0, 0] value=0.0
    %10: f32[2, 4, 5] = Select %5, %7, %9
    %11: i32[1, 1] = Reshape %3
    %12: i32[4, 5] = Expand %11
    %13: i32[4, 5] = Index axis=0
    %14: i32[4, 5] = Index axis=1
    %15: f32[4, 5] = Gather %10, %12, %13, %14 modes=[clamp, unchecked, unchecked] fill=0.0
    %16: i32 = Constant 0
    %17: i32[4, 5] = Expand %16
    %18: f32[4, 5] = Gather %10, %17, %14, %13 modes=[clamp, clamp, clamp] fill=0.0
    return %15, %18
}
)",
          R"(graph(%0: f32[4, 5], %1: f32[4, 5]) {
    %2: i32[4, 5] = Index axis=1
    %3: i32[4, 5] = Index axis=0
    %4: f32[4, 5] = Gather %0, %2, %3 modes=[clamp, clamp] fill=0.0
    return %1, %4
}
)");
}

TEST(Simplify, ALoopOfNoTurns) {
    check(simplify, R"(graph(%0: f32[4]) {
    %1: i32 = Constant 3
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4 = Loop %1, %2, %3, %0 (%5: i32, %6: f32[4]) {
        %7: f32[4] = Sin %6
        yield %7
    }
    %8: f32[4] = Result %4 index=0
    return %8
}
)",
          "graph(%0: f32[4]) {\n    return %0\n}\n");
}

TEST(Simplify, ALoopOfOneTurn) {
    check(simplify, R"(graph(%0: f32[4], %1: i32[4]) {
    %2: i32 = Constant 3
    %3: i32 = Constant 4
    %4: i32 = Constant 2
    %5 = Loop %2, %3, %4, %0, %1 (%6: i32, %7: f32[4], %8: i32[4]) {
        %9: f32[4] = Sin %7
        %10: i32[4] = Expand %6
        %11: i32[4] = Add %8, %10
        yield %9, %11
    }
    %12: f32[4] = Result %5 index=0
    %13: i32[4] = Result %5 index=1
    return %12, %13
}
)",
          R"(graph(%0: f32[4], %1: i32[4]) {
    %2: f32[4] = Sin %0
    %3: i32 = Constant 3
    %4: i32[4] = Expand %3
    %5: i32[4] = Add %1, %4
    return %2, %5
}
)");
}

/// A loop of `end` iterations whose next value is chosen.
std::string choosing(const std::string& end, const std::string& condition) {
    return R"(graph(%0: f32[4], %1: bool[4], %2: f32[4], %3: i32 scalar) {
    %4: i32 = Constant 0
    %5: i32 = Constant 50
    %6: i32 = Constant 1
    %7 = Loop %4, )" +
           end + R"(, %6, %0 (%8: i32, %9: f32[4]) {
        %10: bool[4] = Less %9, %2
        %11: f32[4] = Select )" +
           condition + R"(, %9, %2
        yield %11
    }
    %12: f32[4] = Result %7 index=0
    return %12
}
)";
}

TEST(Simplify, AChoiceThatNoIterationChanges) {
    std::string before = choosing("%5", "%1");
    before.erase(before.find("        %10"),
                 before.find("        %11") - before.find("        %10"));
    check(simplify, numbered(before),
          R"(graph(%0: f32[4], %1: bool[4], %2: f32[4], %3: i32 scalar) {
    %4: f32[4] = Select %1, %0, %2
    return %4
}
)");
    NodeTable table;
    for (const auto& [end, condition] : {std::pair{"%5", "%10"}, {"%3", "%1"}}) {
        const Graph graph = parse(table, numbered(choosing(end, condition)));
        EXPECT_NE(print(simplify(table, graph, nullptr)).find("Loop"), std::string::npos);
    }
}

TEST(Simplify, ALoopInALoopOfOneTurnStaysOne) {
    check(simplify, R"(graph(%0: f32[4], %1: f32[4]) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4 = Loop %2, %3, %3, %0, %1 (%5: i32, %6: f32[4], %7: f32[4]) {
        %8: i32 = Constant 9
        %9 = Loop %2, %8, %3, %6, %7 (%10: i32, %11: f32[4], %12: f32[4]) {
            %13: f32[4] = Sin %11
            %14: f32[4] = Add %12, %13
            yield %13, %14
        }
        %15: f32[4] = Result %9 index=0
        %16: f32[4] = Result %9 index=1
        yield %15, %16
    }
    %17: f32[4] = Result %4 index=0
    %18: f32[4] = Result %4 index=1
    return %17, %18
}
)",
          R"(graph(%0: f32[4], %1: f32[4]) {
    %2: i32 = Constant 0
    %3: i32 = Constant 9
    %4: i32 = Constant 1
    %5 = Loop %2, %3, %4, %0, %1 (%6: i32, %7: f32[4], %8: f32[4]) {
        %9: f32[4] = Sin %7
        %10: f32[4] = Add %8, %9
        yield %9, %10
    }
    %11: f32[4] = Result %5 index=0
    %12: f32[4] = Result %5 index=1
    return %11, %12
}
)");
}

TEST(Simplify, ABranchOfAKnownCondition) {
    check(simplify, R"(graph(%0: f32[4], %1: f32) {
    %2: bool = Constant false
    %3 = If %2 {
        yield %0
    } else {
        yield %1
    }
    %4: f32[4] = Result %3 index=0
    return %4
}
)",
          "graph(%0: f32[4], %1: f32) {\n    %2: f32[4] = Expand %1\n    return %2\n}\n");
}

TEST(Simplify, ABranchOfEqualValues) {
    check(simplify, R"(graph(%0: bool, %1: f32[4]) {
    %2: f32[4] = Sin %1
    %3 = If %0 {
        yield %2
    } else {
        yield %2
    }
    %4: f32[4] = Result %3 index=0
    return %4
}
)",
          "graph(%0: bool, %1: f32[4]) {\n    %2: f32[4] = Sin %1\n    return %2\n}\n");
}

TEST(Simplify, InsideALoop) {
    check(simplify, R"(graph(%0: i32[4], %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4 = Loop %2, %1, %3, %0 (%5: i32, %6: i32[4]) {
        %7: i32[4] = Expand %3
        %8: i32[4] = Mul %6, %7
        %9: i32[4] = Expand %5
        %10: i32[4] = Add %8, %9
        yield %10
    }
    %11: i32[4] = Result %4 index=0
    return %11
}
)",
          R"(graph(%0: i32[4], %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4 = Loop %2, %1, %3, %0 (%5: i32, %6: i32[4]) {
        %7: i32[4] = Expand %5
        %8: i32[4] = Add %6, %7
        yield %8
    }
    %9: i32[4] = Result %4 index=0
    return %9
}
)");
}

TEST(Simplify, ASumOfOneChoiceIsARead) {
    check(simplify, R"(graph(%0: f32[3, 5], %1: i32[3]) {
    %2: i32[3, 1] = Reshape %1
    %3: i32[3, 5] = Expand %2
    %4: i32[3, 5] = Index axis=1
    %5: bool[3, 5] = Equal %3, %4
    %6: f32 = Constant 0.0
    %7: f32[3, 5] = Expand %6
    %8: f32[3, 5] = Select %5, %0, %7
    %9: f32[3] = Reduce %8 op=sum axes=[1]
    return %9
}
)",
          R"(graph(%0: f32[3, 5], %1: i32[3]) {
    %2: i32[3] = Index axis=0
    %3: i32[3, 1] = Reshape %1
    %4: i32[3, 5] = Expand %3
    %5: i32 = Constant 0
    %6: i32[3] = Expand %5
    %7: i32[3] = Gather %4, %2, %6 modes=[clamp, clamp] fill=0
    %8: f32[3] = Gather %0, %2, %7 modes=[clamp, constant] fill=0.0
    %9: f32 = Constant 0.0
    %10: f32[3] = Expand %9
    %11: f32[3] = Add %8, %10
    return %11
}
)");
}

TEST(Simplify, ASumOfSomethingElseStays) {
    // The position varies along the axis; an element that is not chosen counts.
    for (const char* lines :
         {"    %3: i32[3, 5] = Index axis=1\n    %4: bool[3, 5] = Equal %1, %3\n"
          "    %5: f32 = Constant 0.0\n",
          "    %3: i32[3, 5] = Index axis=0\n    %4: bool[3, 5] = Equal %2, %3\n"
          "    %5: f32 = Constant 1.0\n"}) {
        const std::string text =
            std::string("graph(%0: f32[3, 5], %1: i32[3, 5], %2: i32[3, 5]) {\n") + lines +
            "    %6: f32[3, 5] = Expand %5\n    %7: f32[3, 5] = Select %4, %0, %6\n"
            "    %8: f32[3] = Reduce %7 op=sum axes=[1]\n    return %8\n}\n";
        check(simplify, text, text);
    }
}

TEST(Simplify, IsDoneAfterOneRun) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, i32, {4}, false);
    Ref y = x;
    for (int k = 0; k < 200; ++k)
        y = elementwise(b, Op::Add, {y, constant_int(b, k)}, {false, true});
    Graph once = simplify(table, Graph{{x}, {y}, {}});
    EXPECT_EQ(topological(once.results).size(), 4u);
    RuleCounts fired;
    simplify(table, once, &fired);
    EXPECT_TRUE(fired.empty());
}

TEST(Simplify, ALongChainIsLinear) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, f32, {Size::symbol("n")}, false);
    Ref y = x;
    for (int k = 0; k < 20000; ++k) y = elementwise(b, Op::Sin, {y});
    EXPECT_EQ(simplified(table, Graph{{x}, {y}, {}}).results[0], y);
}

}  // namespace
}  // namespace firn
