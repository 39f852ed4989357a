// Hash-consing, lifetime, rewriting and placement of nodes.
#include <gtest/gtest.h>

#include <limits>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/regions.h"
#include "compiler/ir/substitute.h"
#include "compiler/ir/text.h"
#include "tests/ir/ending_loop.h"

namespace firn {
namespace {

Ref keep(const Node&, const std::vector<Ref>&) { return nullptr; }

/// A loop of 4 iterations; `next` returns the next carried values.
template <class Next>
Ref four_turns(Builder b, const Ref& init, const Next& next) {
    Ref iteration = region_arg(b, i32, {}), carried = region_arg(b, init->dtype, init->shape);
    Region body{{iteration, carried}, {next(carried)}};
    Ref node =
        loop(b, constant_int(b, 0), constant_int(b, 4), constant_int(b, 1), {init}, body, -1);
    return result(b, node, 0);
}

/// Returns a loop that adds `step` to a carried value starting as `init`.
Ref adding_loop(Builder b, const Ref& init, const Ref& step) {
    return four_turns(b, init, [&](const Ref& carried) {
        return elementwise(b, Op::Add, {carried, step});
    });
}

TEST(Interning, EqualStructureIsOneNode) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, f32, {4}, false);
    EXPECT_EQ(elementwise(b, Op::Sin, {x}), elementwise(b, Op::Sin, {x}));
}

TEST(Interning, DifferentAttributesAreDifferentNodes) {
    NodeTable table;
    Builder b{table};
    EXPECT_NE(index(b, {4, 4}, 0), index(b, {4, 4}, 1));
    EXPECT_NE(constant_float(b, 0.0), constant_float(b, -0.0));
    EXPECT_NE(constant_int(b, 1, i32), constant_int(b, 1, u32));
}

TEST(Interning, NanConstantsOfEqualBitsAreOne) {
    NodeTable table;
    Builder b{table};
    EXPECT_EQ(constant_float(b, std::numeric_limits<double>::quiet_NaN()),
              constant_float(b, std::numeric_limits<double>::quiet_NaN()));
}

TEST(Interning, CollidingHashesDoNotMerge) {
    NodeTable colliding(0);
    Builder b{colliding};
    Ref x = input(b, 0, f32, {4}, false), y = input(b, 1, f32, {4}, false);
    std::vector<Ref> nodes = {x,
                              y,
                              elementwise(b, Op::Add, {x, y}),
                              elementwise(b, Op::Add, {y, x}),
                              elementwise(b, Op::Mul, {x, y}),
                              constant_float(b, 1),
                              constant_float(b, 2),
                              reduce(b, ReduceOp::Sum, x, {}, false),
                              reduce(b, ReduceOp::Max, x, {}, false),
                              slice(b, x, {0}, {2}, {1}),
                              slice(b, x, {1}, {2}, {1})};
    for (size_t i = 0; i < nodes.size(); ++i)
        for (size_t j = 0; j < i; ++j) EXPECT_NE(nodes[i], nodes[j]) << i << " " << j;
    EXPECT_EQ(nodes[2], elementwise(b, Op::Add, {x, y}));
}

TEST(Interning, CollidingHashesPrintTheSameGraph) {
    std::string texts[2];
    for (int k = 0; k < 2; ++k) {
        NodeTable table(k ? ~uint64_t{0} : 0);
        Builder b{table};
        Ref x = input(b, 0, f32, {4}, false);
        Ref y =
            elementwise(b, Op::Add, {elementwise(b, Op::Sin, {x}), elementwise(b, Op::Cos, {x})});
        texts[k] = print(Graph{{x}, {y}, {}});
    }
    EXPECT_EQ(texts[0], texts[1]);
}

TEST(Interning, MergedNodesKeepUpToFourLines) {
    NodeTable table;
    Ref x = constant_float({table, {"a/b.cpp", 1}}, 1);
    for (int line : {2, 2, 3, 4, 5}) constant_float({table, {"a/b.cpp", line}}, 1);
    ASSERT_EQ(x->lines.size(), 4u);
    EXPECT_EQ(text(x->lines[3]), "b.cpp:4");
}

TEST(Interning, LoopsAndArgumentsAreNeverMerged) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, f32, {4}, false);
    EXPECT_NE(region_arg(b, f32, {}), region_arg(b, f32, {}));
    EXPECT_NE(adding_loop(b, x, x), adding_loop(b, x, x));
}

TEST(Lifetime, ReleasedNodesLeaveTheTable) {
    NodeTable table;
    Builder b{table};
    {
        Ref x = input(b, 0, f32, {4}, false);
        Ref y = adding_loop(b, x, elementwise(b, Op::Sin, {x}));
        EXPECT_GT(table.live_nodes(), 5u);
    }
    EXPECT_EQ(table.live_nodes(), 0u);
}

TEST(Lifetime, NodesMayOutliveTheirTable) {
    Ref y;
    {
        NodeTable table;
        Builder b{table};
        y = elementwise(b, Op::Sin, {input(b, 0, f32, {4}, false)});
    }
    EXPECT_EQ(y->inputs[0]->op, Op::Input);
}

/// x -> sin(sin(... x)).
Ref long_chain(Builder b, Ref x, int length) {
    for (int k = 0; k < length; ++k) x = elementwise(b, Op::Sin, {x});
    return x;
}

TEST(LongChain, IsWalkedRewrittenPrintedAndReleased) {
    constexpr int kLength = 200000;
    NodeTable table;
    Builder b{table};
    {
        Ref x = input(b, 0, f32, {4}, false), y = long_chain(b, x, kLength);
        EXPECT_EQ(topological({y}).size(), kLength + 1u);
        Ref z = input(b, 0, f32, {8}, false);
        Ref w = rewrite(table, {y}, keep, {{x.get(), z}})[0];
        EXPECT_EQ(w->shape, Shape{8});
        EXPECT_EQ(place({w}).regions[0].order.size(), kLength + 1u);
    }
    EXPECT_EQ(table.live_nodes(), 0u);
}

TEST(Rewrite, KeepsUnchangedNodes) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, f32, {4}, false), y = adding_loop(b, x, x);
    EXPECT_EQ(rewrite(table, {y}, keep)[0], y);
}

TEST(Rewrite, InfersShapesAgain) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, f32, {4}, false);
    Ref y = reduce(b, ReduceOp::Sum, elementwise(b, Op::Sin, {x}), {0}, true);
    Ref z = input(b, 1, f32, {4, 6}, false);
    EXPECT_EQ(rewrite(table, {reduce(b, ReduceOp::Sum, elementwise(b, Op::Sin, {x}), {0}, false)},
                      keep, {{x.get(), z}})[0]
                  ->shape,
              Shape{6});
    EXPECT_EQ(y->shape, Shape{1});
}

TEST(Rewrite, KeepsTheLines) {
    NodeTable table;
    Ref x = input({table}, 0, f32, {4}, false), z = input({table}, 1, f32, {4}, false);
    Ref y = elementwise({table, {"a.cpp", 7}}, Op::Sin, {x});
    elementwise({table, {"a.cpp", 9}}, Op::Sin, {x});
    Ref w = rewrite(table, {y}, keep, {{x.get(), z}})[0];
    ASSERT_EQ(w->lines.size(), 2u);
    EXPECT_EQ(w->lines[1].line, 9);
}

TEST(Rewrite, AChangedLoopHasItsOwnArguments) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, f32, {4}, false), z = input(b, 1, f32, {4}, false);
    Ref y = adding_loop(b, x, x);
    Ref w = rewrite(table, {y}, keep, {{x.get(), z}})[0];
    // Both loops in one graph: placement throws where they share an argument.
    EXPECT_EQ(place({elementwise(b, Op::Add, {y, w})}).regions.size(), 3u);
}

/// Nested loops, each of which begins with a carried value of the one around it.
Ref nested_loops(Builder b, const Ref& init, int depth) {
    if (depth == 0) return elementwise(b, Op::Sin, {init});
    return four_turns(b, init,
                      [&](const Ref& carried) { return nested_loops(b, carried, depth - 1); });
}

TEST(Rewrite, DeepLoopsAreCopiedAFewTimesNotForEveryOneAround) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, f32, {4}, false), z = input(b, 1, f32, {4}, false);
    constexpr int kDepth = 16;
    const uint64_t begin = input(b, 2, f32, {}, false)->serial;
    Ref y = nested_loops(b, x, kDepth);
    const uint64_t built = input(b, 3, f32, {}, false)->serial - begin;
    Ref w = rewrite(table, {y}, keep, {{x.get(), z}})[0];
    const uint64_t changed = input(b, 4, f32, {}, false)->serial - begin - built;
    EXPECT_LT(changed, 3 * kDepth * built);
    EXPECT_EQ(place({elementwise(b, Op::Add, {y, w})}).regions.size(), 1u + 2 * kDepth);
}

TEST(Copy, OfLoopsInLoopsMakesEachNodeOnce) {
    NodeTable table, other;
    Builder b{table};
    Graph graph{{input(b, 0, f32, {4}, false)}, {}, {}};
    const uint64_t begin = input(b, 1, f32, {}, false)->serial;
    graph.results = {nested_loops(b, graph.args[0], 16)};
    const uint64_t built = input(b, 2, f32, {}, false)->serial - begin;
    const Graph copy = copied_graph(other, graph);
    EXPECT_LE(input({other}, 1, f32, {}, false)->serial, built + 3);
    EXPECT_EQ(print(copy), print(graph));
}

TEST(Copy, LeavesOutLoopsThatEndAtOnce) {
    NodeTable table, other;
    const Graph graph = parse(table, kEndingLoop);
    EXPECT_EQ(print(copied_graph(other, graph)), print(graph));
    SymbolFacts facts;
    facts.exact["m"] = 3;
    EXPECT_EQ(print(copied_graph(other, graph, facts)), R"(graph(%0: f32[n, m]) {
    %1: f32[n, m] = Cos %0
    return %1
}
)");
}

TEST(Rewrite, WhatIsIdleIsNotLookedInto) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, f32, {4}, false), z = input(b, 1, f32, {4}, false);
    Ref y = elementwise(b, Op::Cos, {nested_loops(b, x, 2)});
    int seen = 0;
    const auto look = [&](const Node& node, const std::vector<Ref>&) {
        seen += node.op == Op::Sin;
        return Ref();
    };
    Ref w = rewrite(table, {y}, look, {{x.get(), z}}, {},
                    [](const Node& node) { return node.op == Op::Loop; })[0];
    EXPECT_EQ(w, elementwise(b, Op::Cos, {z}));
    EXPECT_EQ(seen, 0);
}

TEST(Rewrite, ChangesInsideNestedLoops) {
    NodeTable table;
    Graph g = parse(table, R"(graph(%0: f32[4]) {
    %1: i32 = Constant 0
    %2: i32 = Constant 3
    %3: i32 = Constant 1
    %4 = Loop %1, %2, %3, %0 (%5: i32, %6: f32[4]) {
        %7 = Loop %1, %2, %3, %6 (%8: i32, %9: f32[4]) {
            %10: f32[4] = Sin %9
            yield %10
        }
        %11: f32[4] = Result %7 index=0
        yield %11
    }
    %12: f32[4] = Result %4 index=0
    return %12
}
)");
    auto to_cos = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        return node.op == Op::Sin ? elementwise({table}, Op::Cos, inputs) : nullptr;
    };
    Graph changed{g.args, rewrite(table, g.results, to_cos), {}};
    verify(changed, "test");
    std::string expected = print(g);
    expected.replace(expected.find("Sin"), 3, "Cos");
    EXPECT_EQ(print(changed), expected);
}

TEST(NodeMap, KeepsTheFirstValueWhileItGrows) {
    NodeTable table;
    std::vector<Ref> nodes;
    NodeMap<int> map;
    for (int k = 0; k < 1000; ++k) {
        nodes.push_back(constant_int({table}, k));
        EXPECT_TRUE(map.insert(nodes.back().get(), k));
        EXPECT_FALSE(map.insert(nodes.back().get(), -1));
    }
    for (int k = 0; k < 1000; ++k) EXPECT_EQ(map.at(nodes[static_cast<size_t>(k)].get()), k);
    EXPECT_THROW(map.at(constant_int({table}, 1000).get()), InternalError);
}

TEST(FreeArguments, AreThoseThatNoLoopInsideBinds) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, f32, {4}, false), outer = region_arg(b, f32, {4});
    Ref inside = adding_loop(b, x, outer);
    ASSERT_TRUE(inside->free_args);
    EXPECT_EQ(*inside->free_args, std::vector<uint64_t>{outer->as<RegionArgAttr>().id});
    EXPECT_FALSE(adding_loop(b, x, x)->free_args);
}

TEST(Substitute, ReplacesAnArgumentBelowAnotherLoop) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, f32, {4}, false), outer = region_arg(b, f32, {4});
    Ref apart = elementwise(b, Op::Sin, {adding_loop(b, x, x)});
    std::vector<Ref> made =
        substitute(table, {adding_loop(b, x, outer), apart}, {{outer.get(), x}});
    EXPECT_FALSE(made[0]->free_args);
    EXPECT_EQ(made[1], apart);
}

TEST(Topological, PutsABodyBeforeItsLoop) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, f32, {4}, false);
    std::vector<Ref> order = topological({adding_loop(b, x, x)});
    size_t add = 0, loop_at = 0;
    for (size_t k = 0; k < order.size(); ++k) {
        if (order[k]->op == Op::Add) add = k;
        if (order[k]->op == Op::Loop) loop_at = k;
    }
    EXPECT_LT(add, loop_at);
}

TEST(Placement, ANodeBelongsToTheInnermostRegionOfAllItsUses) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, f32, {4}, false);
    Ref only_inside = elementwise(b, Op::Sin, {x}), both = elementwise(b, Op::Cos, {x});
    Ref step = elementwise(b, Op::Add, {only_inside, both});
    Ref y = elementwise(b, Op::Mul, {adding_loop(b, x, step), both});
    Placement placement = place({y});
    EXPECT_EQ(placement.region_of.at(only_inside.get()), 1);
    EXPECT_EQ(placement.region_of.at(both.get()), 0);
}

TEST(Placement, AnArgumentOutsideItsRegionIsAnInternalError) {
    NodeTable table;
    Builder b{table};
    Ref x = input(b, 0, f32, {}, false), escaped = region_arg(b, f32, {});
    Region body{{region_arg(b, i32, {}), escaped}, {escaped}};
    Ref node = loop(b, constant_int(b, 0), constant_int(b, 4), constant_int(b, 1), {x}, body, -1);
    Ref y = elementwise(b, Op::Add, {result(b, node, 0), escaped});
    EXPECT_THROW(place({y}), InternalError);
}

}  // namespace
}  // namespace firn
