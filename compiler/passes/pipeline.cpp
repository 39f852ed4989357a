// The ordered table of passes and its runner.
#include <chrono>

#include "compiler/ir/text.h"
#include "compiler/passes/passes.h"

namespace firn {
namespace {

struct PassRow {
    const char* name;
    Graph (*run)(NodeTable&, const Graph&, RuleCounts*);
};

// What simplify folds shows which carried values never change; a loop that goes lets a branch go.
constexpr PassRow kPipeline[] = {
    {"branches_to_select", branches_to_select},
    {"simplify", simplify},
    {"dead_loop_values", dead_loop_values},
    {"branches_to_select", branches_to_select},
    {"settle_stores", settle_stores},
    {"invert_scatters", invert_scatters},
    {"simplify", simplify},
};

}  // namespace

Graph run_passes(NodeTable& table, const Graph& graph, const PassOptions& options,
                 std::vector<PassRun>* runs) {
    Graph current = graph;
    if (options.verify) verify(current, "input");
    if (options.dump) options.dump("input", current);
    for (const PassRow& pass : kPipeline) {
        PassRun run{.name = pass.name};
        if (runs) run.nodes_before = topological(current.results).size();
        auto start = std::chrono::steady_clock::now();
        current = pass.run(table, current, &run.fired);
        run.milliseconds =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                .count();
        if (options.verify) verify(current, pass.name);
        if (options.dump) options.dump(pass.name, current);
        if (!runs) continue;
        run.nodes_after = topological(current.results).size();
        runs->push_back(std::move(run));
    }
    return current;
}

}  // namespace firn
