// Every pass over the Graph with its contract, and the runner that strings them together.
#pragma once
#include <bitset>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "compiler/base/stop.h"
#include "compiler/ir/graph.h"
#include "compiler/program/pass_info.h"

namespace firn {

struct DeviceProfile;
struct Schedule;

/// Counts how often each rule of a pass fired, by name.
using RuleCounts = std::map<std::string, int>;

/// Replaces a symbol whose value is known by it, an i32 scalar too. One that is known to be a
/// multiple of d becomes d * (symbol / d), so that everything computed from it shows the divisor:
/// half of it has no remainder, and twice that half is it again. Runs first, so that the other
/// passes see the sizes.
Graph assume_sizes(NodeTable& table, const Graph& graph, const SymbolFacts& facts);

/// Ifs become Selects where both regions are free of Loops, or where the condition is shaped (each
/// element takes its own side, so both run anyway). A rank-0 condition over a Loop stays an If.
/// Ensures: every If has a rank-0 condition and a Loop in one of its regions. Runs before simplify,
/// which knows Selects; and again after dead_loop_values, which may remove a branch's Loop.
Graph branches_to_select(NodeTable& table, const Graph& graph, RuleCounts* fired = nullptr);

/// Simplifies assignments under masks, which select, element by element, between the new value and
/// the old one. Operands that a Select reaches through elementwise operations know its condition:
/// selects there by the same condition, or by one that it implies, are decided; and a Loop that
/// chooses for each element, by a condition outside of it, whether it takes part at all is selected
/// as a whole. A Loop that, by a condition of its carried values alone, leaves them as they are,
/// ends there: masked iterations, as numpy writes them. A value that others need unchanged, or that
/// both sides of a condition need, is not changed: otherwise it would be computed in several forms.
/// Ensures: a value that only elements themselves can see is selected once. Runs after
/// branches_to_select, which makes Selects of Ifs, and before simplify, which folds them.
Graph nested_choices(NodeTable& table, const Graph& graph, RuleCounts* fired = nullptr);

/// The Ifs around `host_loops`, which are steps of several kernels, become Selects too: no kernel
/// could choose. Both sides are total, since the host knows the bounds of such Loops. Runs after
/// the passes that make Loops of kernels.
Graph run_both_sides(NodeTable& table, const Graph& graph,
                     const std::unordered_set<const Node*>& host_loops);

/// Lets a Loop carry only the elements that its iterations touch, of tensors of which they touch
/// the same few in every iteration (ir/narrow_loop.h): they are read before it and stored behind
/// it. Does not enter regions. Runs before share_loops: gradients narrow the loops that they run
/// again in the same way.
Graph narrow_loops(NodeTable& table, const Graph& graph, RuleCounts* fired = nullptr);

/// Replaces a Loop by another one that computes the same values, alone or among others, in the same
/// iterations; loops inside their iterations are compared too. A gradient runs a loop again to keep
/// its states. Of equal kernels written by hand one is left. Ensures: no loop is there twice. Runs
/// early, while both are as they were recorded.
Graph share_loops(NodeTable& table, const Graph& graph, RuleCounts* fired = nullptr);

/// Drops carried values of Loops that no result needs, and replaces arguments that are never
/// changed by their initial values. Ensures: every carried value is changed by the body and used,
/// or decides how long the loop runs, or is a size of its iterations. Runs before simplify, which
/// may fold the replacements.
Graph dead_loop_values(NodeTable& table, const Graph& graph, RuleCounts* fired = nullptr);

/// Moves carried values that need nothing of the region around a Loop (another Loop, or a kernel by
/// hand) to a Loop of their own outside of the region, where it runs once: weights that are summed
/// beside the values they weight, for example. Runs after dead_loop_values, which shows
/// dependencies; that pass also removes the values left behind.
Graph hoist_carried(NodeTable& table, const Graph& graph, RuleCounts* fired = nullptr);

/// A Loop with an active value goes on where a count that it carries is below a constant, and that
/// gains as much in each iteration: it has no more iterations than that, and is known to end.
Graph end_by_counts(NodeTable& table, const Graph& graph, RuleCounts* fired = nullptr);

/// Folds constants and applies the algebra of the rule table until nothing changes for a node.
/// Never changes a result, nan, infinities and the sign of zero included. Takes time linear in the
/// size of the graph. Runs last: the other passes leave work for it.
Graph simplify(NodeTable& table, const Graph& graph, RuleCounts* fired = nullptr);

/// Splits an axis of constant extent in two, in the same order: an axis that a Reduce goes over, or
/// along which a Scatter's positions lie, and whose index is only used divided by a divisor of the
/// extent or as the remainder, as a window's pixels `k / 5, k % 5` are. Ensures: such indices are
/// affine. Runs before invert_scatters, which needs that, and the scheduler, which sees shared
/// reads.
Graph split_axes(NodeTable& table, const Graph& graph, RuleCounts* fired = nullptr);

/// Ensures: a Scatter that replaces is a function of its result's index, or no two positions store
/// different values at one place (promised, or all values are equal); other stores read the last
/// position that wrote, found by a Scatter that takes the largest. Scatters that combine f16 or
/// bf16 do so in f32.
Graph settle_stores(NodeTable& table, const Graph& graph, RuleCounts* fired = nullptr);

/// Turns a combining Scatter (sum, product, minimum or maximum) into a gather: at affine indices
/// that can be solved for the position and leave few elements of the target alone, each element
/// gathers the values stored there. Saves atomics, and gives one order. A Scatter of 64-bit
/// elements, which devices do not combine, with positions that provably do not collide reads and
/// stores each its own element. The last simplify cleans up after it.
Graph invert_scatters(NodeTable& table, const Graph& graph, RuleCounts* fired = nullptr);

/// Joins two stores, one after the other, that provably store to each element once, as parts of one
/// value: no old element remains, and one kernel does both. Runs last: its result is for the
/// scheduler.
Graph join_stores(NodeTable& table, const Graph& graph, RuleCounts* fired = nullptr);

/// Joins stores that combine into one large tensor, one after the other, by the same operation at
/// as many positions, to one kernel by hand over these positions: shared values are computed once,
/// and there is one launch. Also joins such stores into up to three independent tensors. Not in
/// loops and branches, which may be one kernel themselves, nor for few positions or for targets
/// that fit into a group's memory. Runs last, too.
Graph combine_together(NodeTable& table, const Graph& graph, RuleCounts* fired = nullptr);

/// Replaces each result that is only a reshape of a result of a Loop, of a Scatter or of a sum by
/// that value: it lies in the same memory, and the driver gives it its shape.
Graph drop_last_reshapes(const Graph& graph);

/// The stages of a graph.
enum class GraphStage : uint8_t {
    Recorded,    // as the user's calls recorded it
    Simplified,  // transformed by the passes that depend on no device
    Fitted,      // within what the profile allows kernels: a schedule can be made for it
};
const char* name(GraphStage stage);

/// The inputs of passes beside the graph. A pass that needs an input which is null does not run.
struct GraphTarget {
    NodeTable& table;
    const SymbolFacts& facts;
    const DeviceProfile* profile = nullptr;
    const Schedule* schedule = nullptr;  // of a graph that is Fitted
};

/// A row of the table: a pass that takes a graph of one stage and gives one of the same stage or
/// the next.
struct GraphPass {
    PassInfo info;
    GraphStage takes, gives;
    Graph (*run)(const Graph&, const GraphTarget&, RuleCounts& fired);
    /// The pass does not change a graph without any of these operations.
    std::bitset<kOpCount> changes;
    /// The row runs only if the last run of this pass changed the graph; null: always.
    const char* only_after = nullptr;
};
/// Returns the passes in the order in which they run.
std::span<const GraphPass> graph_passes();

/// One run of one pass.
struct PassRun {
    std::string name;
    double milliseconds = 0;
    size_t nodes_before = 0, nodes_after = 0;
    RuleCounts fired;
};

struct GraphPassOptions {
    bool verify = true;  // the graph as it was recorded, and after every pass that changed it
    SkippedPasses skipped;
    /// Called with the graph after every row.
    std::function<void(const PassRun& run, const Graph& graph)> seen;
    const std::atomic<bool>* stop = nullptr;  // see check_stop
};

/// Takes `graph` from one stage to another by the rows between; from a stage to itself by the rows
/// that keep it. Does not run a pass if the graph has nothing for it, or is as the same pass left
/// it. The result computes the same values from the same arguments under the same guards.
Graph run_graph_passes(const Graph& graph, GraphStage from, GraphStage to,
                       const GraphTarget& target, const GraphPassOptions& options = {});

}  // namespace firn
