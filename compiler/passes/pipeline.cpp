// The ordered table of passes over the Graph, and its runner.
#include <array>
#include <chrono>
#include <initializer_list>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "compiler/ir/text.h"
#include "compiler/passes/open_loops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/profiled/bound_loops.h"
#include "compiler/passes/profiled/crowded_loops.h"
#include "compiler/passes/profiled/distribute_loops.h"
#include "compiler/passes/profiled/kept_states.h"
#include "compiler/passes/profiled/split_reductions.h"
#include "compiler/passes/profiled/store_parts.h"
#include "compiler/passes/state_tapes.h"
#include "compiler/schedule/check_sizes.h"

namespace firn {
namespace {

using enum GraphStage;
using Ops = std::bitset<kOpCount>;

Ops ops(std::initializer_list<Op> list) {
    Ops out;
    for (Op op : list) out.set(static_cast<size_t>(op));
    return out;
}

// A function of the table for each form that passes have.
template <Graph (*pass)(NodeTable&, const Graph&, RuleCounts*)>
Graph by_rules(const Graph& graph, const GraphTarget& target, RuleCounts& fired) {
    return pass(target.table, graph, &fired);
}
template <Graph (*pass)(NodeTable&, const Graph&, const SymbolFacts&)>
Graph by_facts(const Graph& graph, const GraphTarget& target, RuleCounts&) {
    return pass(target.table, graph, target.facts);
}
template <Graph (*pass)(NodeTable&, const Graph&, const DeviceProfile&, const SymbolFacts&)>
Graph by_profile(const Graph& graph, const GraphTarget& target, RuleCounts&) {
    return pass(target.table, graph, *target.profile, target.facts);
}
Graph last_reshapes(const Graph& graph, const GraphTarget&, RuleCounts&) {
    return drop_last_reshapes(graph);
}
Graph both_sides(const Graph& graph, const GraphTarget& target, RuleCounts&) {
    const RegionFacts regions = region_facts(graph);
    NodeSet steps = regions.host_loops;
    for (const Ref& node : regions.order)
        if (node->op == Op::Loop && node->as<LoopAttr>().by_hand()) steps.insert(node.get());
    return steps.empty() ? graph : run_both_sides(target.table, graph, steps);
}
Graph sizes(const Graph& graph, const GraphTarget& target, RuleCounts&) {
    Graph out = graph;
    check_sizes(out, *target.profile, target.facts);
    return out;
}
Graph parts(const Graph& graph, const GraphTarget& target, RuleCounts&) {
    return store_parts(target.table, graph, *target.schedule, *target.profile, target.facts);
}

constexpr PassNeeds kFit = kNeedsFacts | kNeedsProfile;

// Folding by simplify shows which carried values never change; without a loop a branch may go.
// Stores under a mask are selects only when they are simplified. Loops over chunks, which
// bound_loops makes, carry their values in memory, and so bind more. Opening a loop adds a
// reduction, which tells whether any element goes on.
// clang-format off
const auto kPipeline = std::to_array<GraphPass>({
    {{"assume_sizes", "passes/assume_sizes", kNeedsFacts},
     Recorded, Recorded, by_facts<assume_sizes>, ~Ops()},
    {{"narrow_loops", "passes/narrow_loops"},
     Recorded, Recorded, by_rules<narrow_loops>, ops({Op::Loop})},
    {{"share_loops", "passes/share_loops"},
     Recorded, Recorded, by_rules<share_loops>, ops({Op::Loop})},
    {{"branches_to_select", "passes/branches_to_select", 0, "kernels branch by numbers only"},
     Recorded, Recorded, by_rules<branches_to_select>, ops({Op::If})},
    {{"nested_choices", "passes/nested_choices"},
     Recorded, Recorded, by_rules<nested_choices>, ops({Op::Select})},
    {{"simplify", "passes/simplify"}, Recorded, Recorded, by_rules<simplify>, ~Ops()},
    {{"nested_choices", "passes/nested_choices"},
     Recorded, Recorded, by_rules<nested_choices>, ops({Op::Select})},
    {{"end_by_counts", "passes/end_by_counts"},
     Recorded, Recorded, by_rules<end_by_counts>, ops({Op::Loop})},
    {{"dead_loop_values", "passes/dead_loop_values"},
     Recorded, Recorded, by_rules<dead_loop_values>, ops({Op::Loop, Op::If})},
    {{"hoist_carried", "passes/hoist_carried"},
     Recorded, Recorded, by_rules<hoist_carried>, ops({Op::Loop})},
    {{"branches_to_select", "passes/branches_to_select", 0, "kernels branch by numbers only"},
     Recorded, Recorded, by_rules<branches_to_select>, ops({Op::If})},
    {{"split_axes", "passes/split_axes"},
     Recorded, Recorded, by_rules<split_axes>, ops({Op::Div, Op::Mod})},
    {{"settle_stores", "passes/settle_stores", 0, "the last store at an element wins"},
     Recorded, Recorded, by_rules<settle_stores>, ops({Op::Scatter})},
    {{"invert_scatters", "passes/invert_scatters"},
     Recorded, Recorded, by_rules<invert_scatters>, ops({Op::Scatter})},
    {{"simplify", "passes/simplify", 0, "kernels know no rules for gradients, which it removes"},
     Recorded, Recorded, by_rules<simplify>, ~Ops()},
    {{"join_stores", "passes/join_stores"},
     Recorded, Recorded, by_rules<join_stores>, ops({Op::Scatter})},
    {{"combine_together", "passes/combine_together"},
     Recorded, Simplified, by_rules<combine_together>, ops({Op::Scatter})},

    {{"drop_last_reshapes", "passes/drop_last_reshapes"},
     Simplified, Simplified, last_reshapes, ops({Op::Reshape})},
    {{"read_last_states", "passes/state_tapes", kNeedsFacts},
     Simplified, Simplified, by_facts<read_last_states>, ops({Op::Loop})},
    {{"distribute_loops", "passes/profiled/distribute_loops", kFit},
     Simplified, Simplified, by_profile<distribute_loops>, ops({Op::Loop})},
    {{"join_crowded_results", "passes/profiled/crowded_loops", kFit},
     Simplified, Simplified, by_profile<join_crowded_results>, ops({Op::Loop})},
    {{"split_reductions", "passes/profiled/split_reductions", kFit,
      "a driver may stop an invocation after some thousand iterations"},
     Simplified, Simplified, by_profile<split_reductions>, ops({Op::Reduce})},
    {{"host_crowded_loops", "passes/profiled/crowded_loops", kFit,
      "a kernel binds no more tensors than the device allows"},
     Simplified, Simplified, by_profile<host_crowded_loops>, ops({Op::Loop})},
    {{"bound_loops", "passes/profiled/bound_loops", kFit,
      "a driver may stop an invocation after some thousand iterations"},
     Simplified, Simplified, by_profile<bound_loops>, ops({Op::Loop})},
    {{"host_crowded_loops", "passes/profiled/crowded_loops", kFit,
      "a kernel binds no more tensors than the device allows"},
     Simplified, Simplified, by_profile<host_crowded_loops>, ops({Op::Loop}), "bound_loops"},
    {{"open_loops", "passes/open_loops", kNeedsFacts, "the host does not know where the loops end"},
     Simplified, Simplified, by_facts<open_loops>, ops({Op::Loop})},
    {{"split_reductions", "passes/profiled/split_reductions", kFit,
      "a driver may stop an invocation after some thousand iterations"},
     Simplified, Simplified, by_profile<split_reductions>, ops({Op::Reduce}), "open_loops"},
    {{"keep_states_once", "passes/profiled/kept_states", kFit},
     Simplified, Simplified, by_profile<keep_states_once>, ops({Op::Loop})},
    {{"run_both_sides", "passes/branches_to_select", 0,
      "no kernel chooses whether a loop of kernels runs"},
     Simplified, Simplified, both_sides, ops({Op::If})},
    {{"check_sizes", "schedule/check_sizes", kFit, "kernels count in 32 bits"},
     Simplified, Fitted, sizes, ~Ops()},

    {{"store_parts", "passes/profiled/store_parts", kFit | kNeedsSchedule},
     Fitted, Fitted, parts, ~Ops()},
});
// clang-format on

bool has_needs(const GraphPass& pass, const GraphTarget& target) {
    return ((pass.info.needs & kNeedsProfile) == 0 || target.profile) &&
           ((pass.info.needs & kNeedsSchedule) == 0 || target.schedule);
}

/// The current graph, with records that save walks: its operations, and the passes that are done
/// with it.
class Pipeline {
  public:
    Pipeline(const Graph& graph, const GraphTarget& target, bool verify)
        : target_(target), current_(graph), verify_(verify) {
        look();
    }

    const Graph& current() const { return current_; }
    size_t nodes() const { return nodes_; }

    void run(const GraphPass& pass, RuleCounts& fired) {
        const std::string_view name = pass.info.name;
        if (pass.only_after && !changed_.contains(pass.only_after)) return;
        if ((pass.changes & present_).none() || done_.contains(name)) return;
        Graph next = pass.run(current_, target_, fired);
        const bool changed = next.results != current_.results;
        if (changed) done_.clear();
        done_.insert(name);
        changed ? void(changed_.insert(name)) : void(changed_.erase(name));
        current_ = std::move(next);
        if (!changed) return;
        if (verify_) firn::verify(current_, pass.info.name);
        look();
    }

  private:
    void look() {
        present_.reset();
        const std::vector<Ref> order = topological(current_.results);
        for (const Ref& node : order) present_.set(static_cast<size_t>(node->op));
        nodes_ = order.size();
    }

    const GraphTarget& target_;
    Graph current_;
    bool verify_;
    Ops present_;
    size_t nodes_ = 0;
    std::unordered_set<std::string_view> done_;     // once is enough: each runs to its fixed point
    std::unordered_set<std::string_view> changed_;  // the graph, when they ran last
};

}  // namespace

const char* name(GraphStage stage) {
    switch (stage) {
        case Recorded: return "recorded";
        case Simplified: return "simplified";
        case Fitted: return "fitted";
    }
    return "";
}

std::span<const GraphPass> graph_passes() { return kPipeline; }

Graph run_graph_passes(const Graph& graph, GraphStage from, GraphStage to,
                       const GraphTarget& target, const GraphPassOptions& options) {
    if (options.verify && from == Recorded) verify(graph, "input");
    Pipeline pipeline(graph, target, options.verify);
    for (size_t k = 0; k < kPipeline.size(); ++k) {
        const GraphPass& pass = kPipeline[k];
        if (pass.takes < from || pass.gives > to || (pass.takes == to && from != to)) continue;
        if (!has_needs(pass, target)) continue;
        if (is_skipped(options.skipped, kPipeline, k)) continue;
        check_stop(options.stop);
        PassRun run{.name = pass.info.name, .nodes_before = pipeline.nodes()};
        const auto start = std::chrono::steady_clock::now();
        pipeline.run(pass, run.fired);
        if (!options.seen) continue;
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - start;
        run.milliseconds = took.count(), run.nodes_after = pipeline.nodes();
        options.seen(run, pipeline.current());
    }
    return pipeline.current();
}

}  // namespace firn
