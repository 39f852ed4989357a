// The runner: order, reports, verification.
#include <gtest/gtest.h>

#include "compiler/base/error.h"
#include "compiler/ir/text.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

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
    std::vector<std::string> names;
    const GraphPassOptions options{.seen = [&](const PassRun& run, const Graph&) {
        runs.push_back(run);
        names.push_back(run.name);
    }};
    const Graph out = simplified(table, parse(table, kSmall), options);
    EXPECT_EQ(print(out), "graph(%0: bool, %1: i32[4]) {\n    return %1\n}\n");
    EXPECT_EQ(names, (std::vector<std::string>{
                         "assume_sizes", "narrow_loops", "share_loops", "branches_to_select",
                         "nested_choices", "simplify", "nested_choices", "end_by_counts",
                         "dead_loop_values", "hoist_carried", "branches_to_select", "split_axes",
                         "settle_stores", "invert_scatters", "simplify", "join_stores",
                         "combine_together"}));
    ASSERT_EQ(runs.size(), 17u);
    EXPECT_EQ(runs[3].fired, (RuleCounts{{"branch to select", 1}}));
    EXPECT_EQ(runs[5].fired, (RuleCounts{{"x + 0", 1}, {"c ? x : x", 1}}));
    EXPECT_LT(runs[5].nodes_after, runs[5].nodes_before);
    EXPECT_TRUE(runs[14].fired.empty());
}

TEST(RunPasses, AnUnsoundGraphIsReportedAsTheInputs) {
    NodeTable table;
    Ref x = table.intern(Op::Input, f32, {4}, {}, InputAttr{0});
    Graph bad{{x}, {table.intern(Op::Sin, f32, {5}, {x})}, {}};
    try {
        simplified(table, bad);
        FAIL();
    } catch (const InternalError& error) {
        EXPECT_NE(std::string(error.what()).find("after input"), std::string::npos) << error.what();
    }
}

TEST(RunPasses, ABranchGoesWithTheLoopInIt) {
    NodeTable table;
    Graph g = parse(table, R"(graph(%0: bool, %1: f32[4]) {
    %2 = If %0 {
        %3: i32 = Constant 0
        %4: i32 = Constant 3
        %5: i32 = Constant 1
        %6 = Loop %3, %4, %5, %1 (%7: i32, %8: f32[4]) {
            yield %8
        }
        %9: f32[4] = Result %6 index=0
        %10: f32[4] = Neg %9
        yield %10
    } else {
        yield %1
    }
    %11: f32[4] = Result %2 index=0
    return %11
}
)");
    EXPECT_EQ(print(simplified(table, g)), R"(graph(%0: bool, %1: f32[4]) {
    %2: bool[4] = Expand %0
    %3: f32[4] = Neg %1
    %4: f32[4] = Select %2, %3, %1
    return %4
}
)");
}

TEST(RunPasses, KeepsTheGuards) {
    NodeTable table;
    Graph g = parse(table,
                    "graph(%0: f32[n], %1: f32[m]) {\n    guard n == m \"no\"\n    return %0\n}\n");
    EXPECT_EQ(simplified(table, g).guards.size(), 1u);
}

}  // namespace
}  // namespace firn
