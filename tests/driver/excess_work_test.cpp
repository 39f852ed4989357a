// Kernels that take far more operations than their values do are cut again, whatever rule made
// them.
#include "compiler/driver/excess_work.h"

#include <gtest/gtest.h>

#include "compiler/driver/finish_kernels.h"
#include "compiler/ir/text.h"

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

NodeSet excess_of(const Graph& graph, const Schedule& schedule, const DeviceProfile& profile) {
    CompileTimes times;
    return finish_kernels(graph, schedule, profile, {}, times).excess;
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

TEST(ExcessWork, IsCounted) {
    const DeviceProfile profile = cpu_profile();
    NodeTable table;
    const Graph one = parse(table, chain(1)), three = parse(table, chain(3));
    const ExcessCensus before = excess_census();
    excess_of(one, all_inlined(one, profile), profile);
    const ExcessCensus plain = excess_census();
    EXPECT_EQ(plain.kernels, before.kernels + 1);
    EXPECT_EQ(plain.cut, before.cut);
    EXPECT_GT(plain.kept.factor, 0.5);
    excess_of(three, all_inlined(three, profile), profile);
    const ExcessCensus nested = excess_census();
    EXPECT_EQ(nested.kernels, plain.kernels + 1);
    EXPECT_EQ(nested.cut, plain.cut + 1);
    EXPECT_GT(nested.worst_cut.factor, kMostExcess);
}

TEST(ExcessWork, HasAText) {
    EXPECT_EQ(text({12, 0, {2.125, "a.cpp:7"}, {}}),
              "12 kernels, at most 2.12 times the operations of their values (a.cpp:7); 0 cut");
    EXPECT_EQ(text({12, 1, {2.125, ""}, {40.5, "a.cpp:9"}}),
              "12 kernels, at most 2.12 times the operations of their values; 1 cut, of at most "
              "40.5 times (a.cpp:9)");
}

}  // namespace
}  // namespace firn
