// The ordered table of passes and its runner.
#include <bitset>
#include <chrono>
#include <initializer_list>
#include <set>

#include "compiler/ir/text.h"
#include "compiler/passes/passes.h"

namespace firn {
namespace {

using Ops = std::bitset<kOpCount>;

Ops ops(std::initializer_list<Op> list) {
    Ops out;
    for (Op op : list) out.set(static_cast<size_t>(op));
    return out;
}

struct PassRow {
    const char* name;
    Graph (*run)(NodeTable&, const Graph&, RuleCounts*);
    Ops changes;  // without any of these it leaves the graph as it is
};

// Folding by simplify shows which carried values never change; without a loop a branch may go.
// Stores under a mask are selects only when they are simplified.
const PassRow kPipeline[] = {
    {"share_loops", share_loops, ops({Op::Loop})},
    {"branches_to_select", branches_to_select, ops({Op::If})},
    {"nested_choices", nested_choices, ops({Op::Select})},
    {"simplify", simplify, ~Ops()},
    {"nested_choices", nested_choices, ops({Op::Select})},
    {"simplify", simplify, ~Ops()},
    {"end_by_counts", end_by_counts, ops({Op::Loop})},
    {"dead_loop_values", dead_loop_values, ops({Op::Loop, Op::If})},
    {"hoist_carried", hoist_carried, ops({Op::Loop})},
    {"branches_to_select", branches_to_select, ops({Op::If})},
    {"split_axes", split_axes, ops({Op::Div, Op::Mod})},
    {"settle_stores", settle_stores, ops({Op::Scatter})},
    {"invert_scatters", invert_scatters, ops({Op::Scatter})},
    {"simplify", simplify, ~Ops()},
    {"join_stores", join_stores, ops({Op::Scatter})},
    {"combine_together", combine_together, ops({Op::Scatter})},
};

/// The current graph, with records that save walks: its operations, and the passes that are done
/// with it.
class Pipeline {
  public:
    Pipeline(NodeTable& table, const Graph& graph, bool verify)
        : table_(table), current_(graph), verify_(verify) {
        if (verify_) firn::verify(current_, "input");
        look();
    }

    const Graph& current() const { return current_; }
    size_t nodes() const { return nodes_; }

    void run(const PassRow& pass, RuleCounts& fired) {
        if ((pass.changes & present_).none() || done_.contains(pass.run)) return;
        Graph next = pass.run(table_, current_, &fired);
        const bool changed = next.results != current_.results;
        if (changed) done_.clear();
        done_.insert(pass.run);
        current_ = std::move(next);
        if (!changed) return;
        if (verify_) firn::verify(current_, pass.name);
        look();
    }

  private:
    void look() {
        present_.reset();
        const std::vector<Ref> order = topological(current_.results);
        for (const Ref& node : order) present_.set(static_cast<size_t>(node->op));
        nodes_ = order.size();
    }

    NodeTable& table_;
    Graph current_;
    bool verify_;
    Ops present_;
    size_t nodes_ = 0;
    std::set<Graph (*)(NodeTable&, const Graph&, RuleCounts*)>
        done_;  // once is enough: each runs to its fixed point
};

}  // namespace

Graph run_passes(NodeTable& table, const Graph& graph, const PassOptions& options,
                 std::vector<PassRun>* runs) {
    Pipeline pipeline(table, graph, options.verify);
    if (options.dump) options.dump("input", graph);
    for (const PassRow& pass : kPipeline) {
        check_stop(options.stop);
        PassRun run{.name = pass.name, .nodes_before = pipeline.nodes()};
        auto start = std::chrono::steady_clock::now();
        pipeline.run(pass, run.fired);
        run.milliseconds =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                .count();
        run.nodes_after = pipeline.nodes();
        if (options.dump) options.dump(pass.name, pipeline.current());
        if (runs) runs->push_back(std::move(run));
    }
    return pipeline.current();
}

}  // namespace firn
