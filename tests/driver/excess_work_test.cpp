// Kernels that take far more operations than their values do are cut again, for every rule that
// made them.
#include "compiler/driver/excess_work.h"

#include <gtest/gtest.h>

#include "compiler/base/error.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/finish_kernels.h"
#include "compiler/ir/text.h"
#include "tests/excess_sum.h"

namespace firn {
namespace {

/// `count` products with 16 columns one after another, each of the tanh of the one before.
std::string chain(int count) {
    std::string head = "graph(%0: f32[1024, 16]", body, last = "%0";
    int next = count + 1;
    const auto add = [&](const std::string& text) {
        body += "    %" + std::to_string(next) + ": " + text + "\n";
        return "%" + std::to_string(next++);
    };
    for (int k = 1; k <= count; ++k) {
        head += ", %" + std::to_string(k) + ": f32[16, 16]";
        const std::string x =
            add("f32[1024, 16, 16] = Expand " + add("f32[1024, 16, 1] = Reshape " + last));
        const std::string w = add("f32[1024, 16, 16] = Expand " +
                                  add("f32[1, 16, 16] = Reshape %" + std::to_string(k)));
        const std::string sum =
            add("f32[1024, 16] = Reduce " + add("f32[1024, 16, 16] = Mul " + x + ", " + w) +
                " op=sum axes=[1]");
        last = add("f32[1024, 16] = Tanh " + sum);
    }
    return head + ") {\n" + body + "    return " + last + "\n}\n";
}

/// The schedule of a rule that computes everything where it is asked.
Schedule all_inlined(const Graph& graph, const DeviceProfile& profile) {
    Schedule schedule = make_schedule(graph, profile);
    schedule.items = {ScheduleItem{.outputs = graph.results}};
    schedule.materialised = {graph.results[0].get()};
    return schedule;
}

FinishedKernels finished(const Graph& graph, const Schedule& schedule,
                         const DeviceProfile& profile) {
    CompileTimes times;
    return finish_kernels(graph, schedule, profile, {}, times);
}

NodeSet excess_of(const Graph& graph, const Schedule& schedule, const DeviceProfile& profile) {
    return finished(graph, schedule, profile).excess.values;
}

TEST(ExcessWork, IsFoundInAChainOfNestedProducts) {
    const DeviceProfile profile = cpu_profile();
    NodeTable table;
    const Graph graph = parse(table, chain(3));
    const NodeSet excess = excess_of(graph, all_inlined(graph, profile), profile);
    EXPECT_EQ(excess.size(), 2u);  // the inner products
    for (const Node* node : excess) EXPECT_EQ(node->op, Op::Reduce);
}

TEST(ExcessWork, WhatWasFoundIsKeptAndThereIsNoMore) {
    const DeviceProfile profile = cpu_profile();
    NodeTable table;
    const Graph graph = parse(table, chain(3));
    const NodeSet kept = excess_of(graph, all_inlined(graph, profile), profile);
    const Schedule schedule = make_schedule(graph, profile, {}, true, {}, kept);
    int required = 0;
    for (const ValueVerdict& verdict : schedule.verdicts)
        if (kept.contains(verdict.value.get())) {
            EXPECT_EQ(verdict.verdict, Verdict::Materialised);
            EXPECT_EQ(verdict.reason, kReasonExcess);
            ++required;
        }
    EXPECT_EQ(required, 2);
    EXPECT_TRUE(excess_of(graph, schedule, profile).empty());
}

TEST(ExcessWork, OneProductAloneIsNone) {
    const DeviceProfile profile = cpu_profile();
    NodeTable table;
    const Graph graph = parse(table, chain(1));
    EXPECT_TRUE(excess_of(graph, all_inlined(graph, profile), profile).empty());
}

/// Each of the elements of a vector is multiplied with the same sum, which each computes again.
std::string with_the_same_sum(const std::string& size, int terms) {
    return "graph(%0: f32[" + size + "], %1: f32[" + std::to_string(terms) +
           "]) {\n"
           "    %2: f32 = Reduce %1 op=sum axes=[0]\n"
           "    %3: f32[" +
           size +
           "] = Expand %2\n"
           "    %4: f32[" +
           size + "] = Mul %0, %3\n    return %4\n}\n";
}

// One number that is computed where it is asked for has no verdict.
TEST(ExcessWork, IsFoundInOneNumberThatManyCompute) {
    const DeviceProfile profile = cpu_profile();
    NodeTable table;
    for (const char* size : {"n", "2000000"}) {
        const Graph graph = parse(table, with_the_same_sum(size, 100));
        const NodeSet excess = excess_of(graph, all_inlined(graph, profile), profile);
        ASSERT_EQ(excess.size(), 1u) << size;
        EXPECT_EQ((*excess.begin())->op, Op::Reduce);
    }
}

/// A kernel inside a loop of kernels counts to that loop's counter, which is at most 2 or 65,535.
/// The counter was taken for a symbol, so for 1,024.
TEST(ExcessWork, OfAKernelThatCountsToTheCounterOfALoopIsThatOfItsIterations) {
    const DeviceProfile profile = cpu_profile();
    NodeTable table;
    for (const char* trips : {"3", "65536"}) {
        const Graph graph = parse(table, R"(graph(%0: f32[100000]) {
    %1: i32 = Constant 0
    %2: i32 = Constant 1
    %3: i32 = Constant )" + std::string(trips) +
                                             R"(
    %4: i32[100000] = Index axis=0
    %5: i32[100000] = Expand %2
    %6: i32[100000] = Add %4, %5
    %7 = Loop %1, %3, %2, %0 (%8: i32, %9: f32[100000]) {
        %10: f32[100000] = Gather %9, %6 modes=[clamp] fill=0.0
        %11: i32 = Add %8, %2
        %12 = Loop %1, %11, %2, %10 (%13: i32, %14: f32[100000]) {
            %15: f32[100000] = Sin %14
            yield %15
        }
        %16: f32[100000] = Result %12 index=0
        yield %16
    }
    %17: f32[100000] = Result %7 index=0
    return %17
}
)");
        const FinishedKernels kernels = finished(graph, make_schedule(graph, profile), profile);
        int loops = 0;
        for_loops(kernels.list.steps, [&](const ListedLoop&) { ++loops; });
        EXPECT_EQ(loops, 1);
        EXPECT_GT(kernels.census.kept.factor, 0);
        EXPECT_LE(kernels.census.kept.factor, 1);
        EXPECT_EQ(kernels.census.cut + kernels.census.exempt, 0);
    }
}

TEST(ExcessWork, OfLessThanALaunchIsLeft) {
    const DeviceProfile profile = cpu_profile();
    NodeTable table;
    const Graph graph = parse(table, with_the_same_sum("300", 300));
    const FinishedKernels kernels = finished(graph, all_inlined(graph, profile), profile);
    EXPECT_TRUE(kernels.excess.empty());
    EXPECT_EQ(kernels.census.kernels, 1);
    EXPECT_LE(kernels.census.kept.factor, kMostExcess);
    EXPECT_EQ(kernels.census.exempt, 1);
    EXPECT_GT(kernels.census.worst_exempt.factor, kMostExcess);
}

/// Multiplies each element, in every iteration, with the sum over the elements of that iteration's
/// row: as many sums of `size` terms as there are elements, if the loop runs inside one kernel.
std::string sums_in_a_loop(const std::string& size, int trips) {
    const std::string number = std::to_string(trips), vector = "f32[" + size + "]";
    return "graph(%0: f32[" + number + ", " + size + "], %1: " + vector + R"() {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4: i32 = Constant )" +
           number + R"(
    %5: i32[)" +
           size + R"(] = Index axis=0
    %6 = Loop %2, %4, %3, %1 (%7: i32, %8: )" +
           vector + R"() {
        %9: i32[)" +
           size + R"(] = Expand %7
        %10: )" +
           vector + R"( = Gather %0, %9, %5 modes=[clamp, clamp] fill=0.0
        %11: )" +
           vector + R"( = Tanh %10
        %12: f32 = Reduce %11 op=sum axes=[0]
        %13: )" +
           vector + R"( = Expand %12
        %14: )" +
           vector + R"( = Mul %8, %13
        yield %14
    }
    %15: )" +
           vector + R"( = Result %6 index=0
    return %15
}
)";
}

/// A value of an iteration has no memory in a kernel: its loop becomes a loop of kernels.
TEST(ExcessWork, InALoopOfAKernelIsThatLoop) {
    const DeviceProfile profile = cpu_profile();
    NodeTable table;
    const Graph graph = parse(table, sums_in_a_loop("4096", 5));
    const FinishedKernels kernels = finished(graph, all_inlined(graph, profile), profile);
    EXPECT_TRUE(kernels.excess.values.empty());
    ASSERT_EQ(kernels.excess.loops.size(), 1u);
    EXPECT_EQ((*kernels.excess.loops.begin())->op, Op::Loop);
    EXPECT_EQ(kernels.census.cut, 1);
}

/// The store has one position; a kernel of its own computes what it begins with, at all elements.
TEST(ExcessWork, InALoopOfAKernelThatAStoreBeginsWithIsThatLoop) {
    const DeviceProfile profile = cpu_profile();
    std::string text = sums_in_a_loop("4096", 5);
    text = text.substr(0, text.find("    return")) +
           R"(    %16: f32 = Gather %1, %3 modes=[clamp] fill=0.0
    %17: i32 = Cast %16
    %18: f32[4096] = Scatter %15, %16, %17 op=last
    return %18
}
)";
    NodeTable table;
    const Graph graph = parse(table, text);
    const FinishedKernels kernels = finished(graph, all_inlined(graph, profile), profile);
    EXPECT_EQ(kernels.excess.loops.size(), 1u);
    EXPECT_EQ(kernels.census.cut, 1);
}

TEST(ExcessWork, InALoopOfAKernelThatTakesLessThanItsLaunchesIsLeft) {
    const DeviceProfile profile = cpu_profile();
    NodeTable table;
    const Graph graph = parse(table, sums_in_a_loop("300", 1000));
    const FinishedKernels kernels = finished(graph, all_inlined(graph, profile), profile);
    EXPECT_TRUE(kernels.excess.empty());
    EXPECT_EQ(kernels.census.exempt, 1);
}

/// Each element has a sum of its own in each iteration, and none computes that of another.
TEST(ExcessWork, InALoopOfAKernelIsNoneWhereEachElementHasItsOwnSums) {
    const DeviceProfile profile = cpu_profile();
    NodeTable table;
    const Graph graph = parse(table, R"(graph(%0: f32[4096, 512], %1: f32[4096]) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4: i32 = Constant 5
    %5 = Loop %2, %4, %3, %1 (%6: i32, %7: f32[4096]) {
        %8: f32 = Cast %6
        %9: f32[4096, 512] = Expand %8
        %10: f32[4096, 512] = Mul %0, %9
        %11: f32[4096] = Reduce %10 op=sum axes=[1]
        %12: f32[4096] = Mul %7, %11
        yield %12
    }
    %13: f32[4096] = Result %5 index=0
    return %13
}
)");
    const FinishedKernels kernels = finished(graph, all_inlined(graph, profile), profile);
    EXPECT_TRUE(kernels.excess.empty());
    EXPECT_LE(kernels.census.kept.factor, kMostExcess);
    EXPECT_EQ(kernels.census.exempt, 0);
}

TEST(ExcessWork, OfALoopOfAKernelIsGoneOnceItsIterationsAreSteps) {
    DeviceProfile profile = cpu_profile();
    NodeTable table;
    // Inside a loop of kernels no pass takes the sums out of the loop inside.
    const Graph graph = parse(table, R"(graph(%0: f32[4096], %1: f32[4096]) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4: i32 = Constant 5
    %5: i32[4096] = Index axis=0
    %6: i32[4096] = Expand %3
    %7: i32[4096] = Add %5, %6
    %8 = Loop %2, %4, %3, %0 (%9: i32, %10: f32[4096]) {
        %11: f32[4096] = Gather %10, %7 modes=[clamp] fill=0.0
        %12 = Loop %2, %4, %3, %11 (%13: i32, %14: f32[4096]) {
            %15: f32 = Cast %13
            %16: f32[4096] = Expand %15
            %17: f32[4096] = Mul %10, %16
            %18: f32[4096] = Tanh %17
            %19: f32 = Reduce %18 op=sum axes=[0]
            %20: f32[4096] = Expand %19
            %21: f32[4096] = Mul %14, %20
            yield %21
        }
        %22: f32[4096] = Result %12 index=0
        yield %22
    }
    %23: f32[4096] = Result %8 index=0
    return %23
}
)");
    const std::string file = excess_file() + "_of_a_loop";
    const auto program =
        compile_graph(table, graph, profile, {.emission = Emission::Text, .excess_log = file});
    const ExcessCensus census = read_excess(file);
    std::filesystem::remove(file);
    EXPECT_EQ(census.cut, 1);
    EXPECT_LE(census.kept.factor, kMostExcess);
    ASSERT_FALSE(program->rounds.empty());
    EXPECT_NE(program->rounds[0].find("a loop inside a kernel computes values too often"),
              std::string::npos)
        << program->rounds[0];
}

TEST(ExcessWork, IsCounted) {
    const DeviceProfile profile = cpu_profile();
    NodeTable table;
    const Graph one = parse(table, chain(1)), three = parse(table, chain(3));
    const ExcessCensus plain = finished(one, all_inlined(one, profile), profile).census;
    EXPECT_EQ(plain.kernels, 1);
    EXPECT_EQ(plain.cut, 0);
    EXPECT_GT(plain.kept.factor, 0.4);
    const ExcessCensus nested = finished(three, all_inlined(three, profile), profile).census;
    EXPECT_EQ(nested.kernels, 1);
    EXPECT_EQ(nested.cut, 1);
    EXPECT_GT(nested.worst_cut.factor, kMostExcess);
}

TEST(ExcessWork, OfSeveralCompilesIsAddedUp) {
    ExcessCensus sum{3, 1, 1, {2, "a.cpp:1"}, {40, "a.cpp:2"}, {20, "a.cpp:5"}};
    add(sum, {4, 2, 1, {5, "a.cpp:3"}, {30, "a.cpp:4"}, {17, "a.cpp:6"}});
    EXPECT_EQ(text(sum), text({7, 3, 2, {5, "a.cpp:3"}, {40, "a.cpp:2"}, {20, "a.cpp:5"}}));
}

TEST(ExcessWork, OfRoundsIsThatOfTheLastAndWhatAllCut) {
    ExcessCensus rounds{3, 1, 1, {7, "a.cpp:1"}, {40, "a.cpp:2"}, {20, "a.cpp:5"}};
    begin_round(rounds);
    add(rounds, {4, 0, 0, {5, "a.cpp:3"}, {}, {}});
    EXPECT_EQ(text(rounds), text({4, 1, 0, {5, "a.cpp:3"}, {40, "a.cpp:2"}, {}}));
}

TEST(ExcessWork, OfEachCompileIsAppendedToTheFileOfItsOptions) {
    const std::string file = excess_file() + "_of_two";
    NodeTable table;
    const Graph graph = parse(table, chain(1));
    for (int k = 0; k < 2; ++k)
        compile_graph(table, graph, cpu_profile(),
                      {.emission = Emission::Text, .excess_log = file});
    compile_graph(table, graph, cpu_profile(), {.emission = Emission::Text});
    const ExcessCensus sum = read_excess(file);
    std::filesystem::remove(file);
    EXPECT_EQ(sum.kernels, 2);
    EXPECT_GT(sum.kept.factor, 0.4);
}

TEST(ExcessWork, IsReadFromAFileAsItWasWritten) {
    const std::string file = excess_file() + "_of_lines";
    append_excess(file, {3, 1, 1, {2, "a b.cpp:1"}, {40, ""}, {20, "a.cpp:5"}});
    append_excess(file, {4, 2, 1, {5, ""}, {30, "a.cpp:3"}, {17, "a.cpp:6"}});
    const ExcessCensus sum = read_excess(file);
    std::filesystem::remove(file);
    EXPECT_EQ(text(sum), text({7, 3, 2, {5, ""}, {40, ""}, {20, "a.cpp:5"}}));
}

TEST(ExcessWork, ForAFileThatCannotBeWrittenIsAnError) {
    try {
        append_excess("/no/such/folder/file", {});
        FAIL();
    } catch (const UserError& error) {
        const std::string message = error.what();
        for (const char* part : {"FIRN_EXCESS", "/no/such/folder/file", "can be written"})
            EXPECT_NE(message.find(part), std::string::npos) << message;
    }
}

TEST(ExcessWork, HasAText) {
    EXPECT_EQ(text({12, 0, 0, {2.125, "a.cpp:7"}, {}, {}}),
              "12 kernels, at most 2.12 times the operations of their values (a.cpp:7); 0 cut");
    EXPECT_EQ(text({12, 1, 2, {2.125, ""}, {40.5, "a.cpp:9"}, {30, "a.cpp:8"}}),
              "12 kernels, at most 2.12 times the operations of their values; 1 cut, of at most "
              "40.5 times (a.cpp:9); 2 shorter than the launches of a cut, of at most 30 times "
              "(a.cpp:8)");
}

}  // namespace
}  // namespace firn
