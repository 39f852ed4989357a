// Loops that carry only the elements that they touch.
#include <gtest/gtest.h>

#include "compiler/ir/text.h"
#include "compiler/passes/passes.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

/// Returns a graph of one loop that carries a tensor, with these lines before it and in its body.
std::string looped(const std::string& type, const std::string& before, const std::string& body) {
    return numbered("graph(%0: " + type + R"(, %1: i32 scalar, %2: f32[5]) {
    %3: i32 = Constant 0
    %4: i32 = Constant 4
    %5: i32 = Constant 1
)" + before + "    %loop = Loop %3, %4, %5, %0 (%iteration: i32, %state: " +
                    type + ") {\n" + body + "    }\n    %out: " + type +
                    " = Result %loop index=0\n    return %out\n}\n");
}

TEST(NarrowLoops, AnElementThatIsReadAndStored) {
    check(narrow_loops,
          looped("f32[6]", "", R"(        %23: f32 = Gather %state, %5 modes=[constant] fill=7.0
        %24: f32 = Sin %23
        %25: f32[6] = Scatter %state, %24, %5 op=last
        %26: f32[6] = Scatter %25, %23, %5 op=add
        yield %26
)"),
          R"(graph(%0: f32[6], %1: i32 scalar, %2: f32[5]) {
    %3: i32 = Constant 0
    %4: i32 = Constant 4
    %5: i32 = Constant 1
    %6: f32 = Gather %0, %5 modes=[constant] fill=0.0
    %7: f32[1] = Reshape %6
    %8 = Loop %3, %4, %5, %7 (%9: i32, %10: f32[1]) {
        %11: f32 = Gather %10, %3 modes=[constant] fill=7.0
        %12: f32 = Sin %11
        %13: f32[1] = Scatter %10, %12, %3 op=last unique
        %14: f32[1] = Scatter %13, %11, %3 op=add unique
        yield %14
    }
    %15: f32[1] = Result %8 index=0
    %16: f32 = Reshape %15
    %17: f32[6] = Scatter %0, %16, %5 op=last unique
    return %17
}
)");
}

TEST(NarrowLoops, ARowThatIsReadAndStored) {
    check(narrow_loops, looped("f32[4, 5]", "", R"(        %23: i32[5] = Expand %5
        %24: i32[5] = Index axis=0
        %25: f32[5] = Gather %state, %23, %24 modes=[constant, unchecked] fill=7.0
        %26: f32[5] = Sin %25
        %27: f32[4, 5] = Scatter %state, %26, %23, %24 op=min
        yield %27
)"),
          R"(graph(%0: f32[4, 5], %1: i32 scalar, %2: f32[5]) {
    %3: i32 = Constant 0
    %4: i32 = Constant 4
    %5: i32 = Constant 1
    %6: i32[5] = Expand %5
    %7: i32[5] = Index axis=0
    %8: f32[5] = Gather %0, %6, %7 modes=[constant, constant] fill=0.0
    %9 = Loop %3, %4, %5, %8 (%10: i32, %11: f32[5]) {
        %12: f32[5] = Gather %11, %7 modes=[constant] fill=7.0
        %13: f32[5] = Sin %12
        %14: f32[5] = Scatter %11, %13, %7 op=min unique
        yield %14
    }
    %15: f32[5] = Result %9 index=0
    %16: f32[4, 5] = Scatter %0, %15, %6, %7 op=last unique
    return %16
}
)");
}

/// Outside of the tensor reads give their fill, and stores are dropped.
TEST(NarrowLoops, AnElementThatMayBeOutside) {
    check(narrow_loops,
          looped("f32[6]", "", R"(        %23: f32 = Gather %state, %1 modes=[constant] fill=7.0
        %24: f32 = Sin %23
        %25: f32[6] = Scatter %state, %24, %1 op=last
        yield %25
)"),
          R"(graph(%0: f32[6], %1: i32 scalar, %2: f32[5]) {
    %3: i32 = Constant 0
    %4: i32 = Constant 4
    %5: i32 = Constant 1
    %6: f32 = Gather %0, %1 modes=[constant] fill=0.0
    %7: f32[1] = Reshape %6
    %8 = Loop %3, %4, %5, %7 (%9: i32, %10: f32[1]) {
        %11: bool = LessEqual %3, %1
        %12: i32 = Constant 6
        %13: bool = Less %1, %12
        %14: bool = And %11, %13
        %15: i32 = Constant -1
        %16: i32 = Select %14, %3, %15
        %17: f32 = Gather %10, %16 modes=[constant] fill=7.0
        %18: f32 = Sin %17
        %19: f32[1] = Scatter %10, %18, %16 op=last unique
        yield %19
    }
    %20: f32[1] = Result %8 index=0
    %21: f32 = Reshape %20
    %22: f32[6] = Scatter %0, %21, %1 op=last unique
    return %22
}
)");
}

void expect_unchanged(const std::string& graph) {
    NodeTable table;
    const Graph before = parse(table, graph);
    EXPECT_EQ(narrow_loops(table, before, nullptr).results, before.results) << graph;
}

TEST(NarrowLoops, NotWhereOtherElementsAreTouched) {
    // One of each iteration.
    expect_unchanged(looped("f32[6]", "", R"(        %23: f32 = Constant 2.0
        %24: f32[6] = Scatter %state, %23, %iteration op=last
        yield %24
)"));
    // All are read.
    expect_unchanged(looped("f32[6]", "", R"(        %23: f32 = Reduce %state op=sum axes=[0]
        %24: f32[6] = Scatter %state, %23, %5 op=last
        yield %24
)"));
    // Another one is read, by a mode that finds it inside.
    expect_unchanged(
        looped("f32[6]", "", R"(        %23: f32 = Gather %state, %1 modes=[clamp] fill=0.0
        %24: f32[6] = Scatter %state, %23, %1 op=last
        yield %24
)"));
    // Positions may meet.
    expect_unchanged(looped("f32[20]", "    %6: i32[5] = Cast %2\n",
                            R"(        %23: f32[20] = Scatter %state, %2, %6 op=add
        yield %23
)"));
}

TEST(NarrowLoops, NotWhereMostElementsAreTouched) {
    expect_unchanged(looped("f32[6]", "    %6: i32[5] = Index axis=0\n",
                            R"(        %23: f32[6] = Scatter %state, %2, %6 op=add
        yield %23
)"));
}

}  // namespace
}  // namespace firn
