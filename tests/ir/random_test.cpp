// Random graphs: sound, the same after printing and parsing, and the same however they hash.
#include <gtest/gtest.h>

#include "compiler/ir/text.h"
#include "tests/ir/shrink.h"

namespace firn {
namespace {

constexpr uint64_t kSeeds = 200;

TEST(RandomGraphs, AreSoundAndSurviveARoundTrip) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        NodeTable table, other;
        RandomProgram program = RandomGraphs(table, seed).make();
        verify(program.graph, "the generator");
        std::string text = print(program.graph);
        ASSERT_EQ(print(parse(table, text)), text) << seed;
        ASSERT_EQ(print(parse(other, text)), text) << seed;
    }
}

TEST(RandomGraphs, ComputeTheSameAfterARoundTrip) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        NodeTable table, other;
        RandomProgram program = RandomGraphs(table, seed).make();
        Graph parsed = parse(other, print(program.graph));
        auto before = interpret(program.graph, program.args, program.env);
        auto after = interpret(parsed, program.args, program.env);
        for (size_t k = 0; k < before.size(); ++k) ASSERT_EQ(after[k].data, before[k].data) << seed;
    }
}

TEST(Shrinker, FindsTheOneOperationThatFails) {
    // A check that fails wherever a product is.
    const RandomCheck check = [](NodeTable&, const RandomProgram& program) -> std::string {
        for (const Ref& node : topological(program.graph.results))
            if (node->op == Op::Mul) return "a product";
        return "";
    };
    int found = 0, smallest = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
        NodeTable table;
        const RandomProgram program = RandomGraphs(table, seed).make();
        if (check(table, program).empty()) continue;
        const RandomProgram small = Shrinker(table, program, check).run();
        EXPECT_FALSE(check(table, small).empty());
        smallest += topological(small.graph.results).size() <= 3;
        ++found;
    }
    EXPECT_GT(found, 5);
    EXPECT_GE(10 * smallest, 8 * found);
}

TEST(RandomGraphs, PrintTheSameWhereAllHashesCollide) {
    for (uint64_t seed = 0; seed < 30; ++seed) {
        NodeTable table, colliding(0);
        ASSERT_EQ(print(RandomGraphs(colliding, seed).make().graph),
                  print(RandomGraphs(table, seed).make().graph))
            << seed;
    }
}

TEST(RandomGraphs, HoldEveryKindOfNode) {
    std::vector<int> seen(kOpCount);
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
        NodeTable table;
        for (const Ref& node : topological(RandomGraphs(table, seed).make().graph.results))
            ++seen[static_cast<size_t>(node->op)];
    }
    for (Op op : {Op::Constant, Op::SizeValue, Op::Index, Op::Reshape, Op::Permute, Op::Expand,
                  Op::Slice, Op::Pad, Op::Gather, Op::Scatter, Op::Reduce, Op::Loop, Op::If,
                  Op::Result, Op::Select, Op::Cast, Op::Bitcast, Op::Array, Op::Barrier})
        EXPECT_GT(seen[static_cast<size_t>(op)], 5) << info(op).name;
}

}  // namespace
}  // namespace firn
