// Decides which loops become steps of kernels, and to which loop's body each value belongs.
#pragma once
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/host_size.h"

namespace firn {

using NodeSet = std::unordered_set<const Node*>;

/// The nodes of the graph, and what the schedule must know of regions.
struct RegionFacts {
    std::vector<Ref> order;  // topological, bodies included
    std::unordered_map<const Node*, int> position;
    /// The loops on whose induction or carried values a node depends (not counting loops inside
    /// it).
    std::unordered_map<const Node*, std::vector<const Node*>> loops;
    std::unordered_map<const Node*, const Node*> arg_owner;  // RegionArg -> Loop
    std::unordered_map<const Node*, int> arg_index;          // RegionArg -> position
    NodeSet host_loops;
    /// Versions of what kernels written by hand store to: their arrays, and the tensors that they
    /// carry.
    NodeSet arrays;
    /// Expected trip counts of all loops, where they were counted already (note_expected_trips()).
    std::unordered_map<const Node*, double> trips;
};
RegionFacts region_facts(const Graph& graph);

/// Returns the results of the body of a Loop, or of the bodies of an If; none for other nodes.
std::vector<Ref> region_results(const Node& node);
/// Returns the induction of every host loop as a symbol of its own, for host_size before the loops
/// have their steps.
std::unordered_map<const Node*, Size> host_inductions(const RegionFacts& regions);
/// Returns the kernel written by hand that a node belongs to or is, null if there is none.
const Node* kernel_by_hand(const RegionFacts& regions, const Node& node);
/// True if the node is a tensor after a kernel written by hand has stored to it.
bool is_stored_by_hand(const Node& node);
/// True if the node has one value for each invocation of a kernel written by hand, for every index
/// at which it is asked for.
bool is_of_invocations(const RegionFacts& regions, const Node& node);
/// Returns the innermost host loop that a node belongs to, null for the top level.
const Node* home_loop(const RegionFacts& regions, const Node& node);
/// True if the node depends on the iteration of a loop inside a kernel: it has no memory of its
/// own.
bool inside_kernel_loop(const RegionFacts& regions, const Node& node);
/// Returns the Loop inside a kernel that returns the value element by element, null if there is
/// none.
const Node* loop_of_result(const RegionFacts& regions, const Node& node);
/// Returns the index space of the kernel that computes a value: the value's own shape, the
/// positions of a store, or the invocations of a kernel written by hand.
const Shape& grid_shape(const RegionFacts& regions, const Node& root);

}  // namespace firn
