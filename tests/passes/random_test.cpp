// Random graphs compute the same before and after every pass, bit by bit.
#include "compiler/ir/text.h"
#include "tests/ir/random_check.h"
#include "tests/passes/check.h"

namespace firn {
namespace {

/// Expects the result of `pass` to give the same bits.
template <class Pass>
RandomCheck keeps_every_value(const Pass& pass) {
    return [pass](NodeTable& table, const RandomProgram& program) {
        const Graph after = pass(table, program.graph);
        verify(after, "the pass");
        return difference(interpret(after, program.args, program.env),
                          interpret(program.graph, program.args, program.env), same_bits);
    };
}

TEST(RandomGraphs, PassesKeepEveryValue) {
    expect_random(random_seeds(1000, 400), {},
                  keeps_every_value([](NodeTable& table, const Graph& graph) {
                      return simplified(table, graph);
                  }));
}

struct OnePass {
    const char* name;
    Graph (*run)(NodeTable&, const Graph&, RuleCounts*);
};
std::ostream& operator<<(std::ostream& out, const OnePass& pass) { return out << pass.name; }
class RandomPass : public testing::TestWithParam<OnePass> {};

TEST_P(RandomPass, KeepsEveryValueAlone) {
    expect_random(random_seeds(2000, 250), {},
                  keeps_every_value([](NodeTable& table, const Graph& graph) {
                      return GetParam().run(table, graph, nullptr);
                  }));
}
INSTANTIATE_TEST_SUITE_P(
    Passes, RandomPass,
    testing::Values(OnePass{"branches_to_select", branches_to_select},
                    OnePass{"simplify", simplify}, OnePass{"dead_loop_values", dead_loop_values},
                    OnePass{"hoist_carried", hoist_carried}, OnePass{"narrow_loops", narrow_loops},
                    OnePass{"split_axes", split_axes}, OnePass{"settle_stores", settle_stores},
                    OnePass{"invert_scatters", invert_scatters},
                    OnePass{"join_stores", join_stores},
                    OnePass{"combine_together", combine_together}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(RandomGraphs, SimplifyIsDoneAfterOneRun) {
    expect_random(random_seeds(1000, 100), {},
                  [](NodeTable& table, const RandomProgram& program) -> std::string {
                      const Graph once = simplify(table, program.graph);
                      RuleCounts fired;
                      const Graph twice = simplify(table, once, &fired);
                      if (!fired.empty()) return "it fires again: " + fired.begin()->first;
                      return print(twice) == print(once) ? "" : "it changes again";
                  });
}

}  // namespace
}  // namespace firn
