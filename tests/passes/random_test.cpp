// Random graphs compute the same before and after all passes, bit by bit.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/ir/text.h"
#include "compiler/passes/passes.h"
#include "tests/ir/random_graph.h"

namespace firn {
namespace {

bool same(const Scalar& a, const Scalar& b) {
    return a == b || (a.dtype == b.dtype && std::isnan(a.f) && std::isnan(b.f));
}

TEST(RandomGraphs, PassesKeepEveryValue) {
    for (uint64_t seed = 1000; seed < 1300; ++seed) {
        NodeTable table;
        RandomProgram program = RandomGraphs(table, seed).make();
        Graph after = run_passes(table, program.graph);
        auto expected = interpret(program.graph, program.args, program.env);
        auto got = interpret(after, program.args, program.env);
        for (size_t r = 0; r < expected.size(); ++r) {
            ASSERT_EQ(got[r].shape, expected[r].shape) << seed;
            for (int64_t k = 0; k < expected[r].elements(); ++k)
                ASSERT_TRUE(same(got[r].at(k), expected[r].at(k)))
                    << "seed " << seed << ", result " << r << ", element " << k << ": "
                    << text(got[r].at(k)) << ", was " << text(expected[r].at(k)) << "\n"
                    << print(program.graph) << print(after);
        }
    }
}

TEST(RandomGraphs, SimplifyIsDoneAfterOneRun) {
    for (uint64_t seed = 1000; seed < 1100; ++seed) {
        NodeTable table;
        Graph once = simplify(table, RandomGraphs(table, seed).make().graph);
        RuleCounts fired;
        EXPECT_EQ(print(simplify(table, once, &fired)), print(once)) << seed;
        EXPECT_TRUE(fired.empty()) << seed << ": " << fired.begin()->first;
    }
}

}  // namespace
}  // namespace firn
