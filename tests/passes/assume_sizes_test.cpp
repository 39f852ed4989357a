// Sizes with the assumptions of a variant. The checker's sizes are n = 5 and m = 3.
#include <gtest/gtest.h>

#include "compiler/passes/passes.h"
#include "tests/ir/ending_loop.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

Graph n_by_five(NodeTable& table, const Graph& graph, RuleCounts*) {
    SymbolFacts facts;
    facts.divisors["n"] = 5;
    return assume_sizes(table, graph, facts);
}

Graph m_is_three(NodeTable& table, const Graph& graph, RuleCounts*) {
    SymbolFacts facts;
    facts.exact["m"] = 3;
    return assume_sizes(table, graph, facts);
}

TEST(AssumeSizes, KnownOnesAreNumbers) {
    check(m_is_three, R"(graph(%0: f32[n, m]) {
    %1: f32[n, floordiv(m, 2)] = Slice %0 begin=[0, 0] step=[1, 2]
    %2: i32 = SizeValue m
    return %1, %2
}
)",
          R"(graph(%0: f32[n, 3]) {
    %1: f32[n, 1] = Slice %0 begin=[0, 0] step=[1, 2]
    %2: i32 = Constant 3
    return %1, %2
}
)");
}

TEST(AssumeSizes, SizesShowWhatDividesThem) {
    check(n_by_five, R"(graph(%0: f32[n, m]) {
    %1: f32[floordiv(n + 4, 5), m] = Slice %0 begin=[0, 0] step=[5, 1]
    return %1
}
)",
          R"(graph(%0: f32[5*floordiv(n, 5), m]) {
    %1: f32[floordiv(n, 5), m] = Slice %0 begin=[0, 0] step=[5, 1]
    return %1
}
)");
}

TEST(AssumeSizes, InsideLoopsToo) {
    check(n_by_five, R"(graph(%0: f32[n], %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4 = Loop %2, %1, %3, %0 (%5: i32, %6: f32[n]) {
        %7: i32[n] = Index axis=0
        %8: f32[n] = Cast %7
        %9: f32[n] = Add %6, %8
        yield %9
    }
    %10: f32[n] = Result %4 index=0
    return %10
}
)",
          R"(graph(%0: f32[5*floordiv(n, 5)], %1: i32 scalar) {
    %2: i32 = Constant 0
    %3: i32 = Constant 1
    %4 = Loop %2, %1, %3, %0 (%5: i32, %6: f32[5*floordiv(n, 5)]) {
        %7: i32[5*floordiv(n, 5)] = Index axis=0
        %8: f32[5*floordiv(n, 5)] = Cast %7
        %9: f32[5*floordiv(n, 5)] = Add %6, %8
        yield %9
    }
    %10: f32[5*floordiv(n, 5)] = Result %4 index=0
    return %10
}
)");
}

TEST(AssumeSizes, LoopsThatEndAtOnceAreLeftOut) {
    check(m_is_three, kEndingLoop,
          R"(graph(%0: f32[n, 3]) {
    %1: f32[n, 3] = Cos %0
    return %1
}
)");
}

TEST(AssumeSizes, NothingKnownChangesNothing) {
    NodeTable table;
    Graph graph;
    EXPECT_TRUE(assume_sizes(table, graph, {}).results.empty());
}

}  // namespace
}  // namespace firn
