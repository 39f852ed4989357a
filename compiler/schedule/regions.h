// Which loops become steps of kernels, and to which loop's body each value belongs.
#pragma once
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/host_size.h"

namespace firn {

using NodeSet = std::unordered_set<const Node*>;

/// Nodes of the graph with what the schedule must know of regions.
struct RegionFacts {
    std::vector<Ref> order;  // topological, bodies included
    std::unordered_map<const Node*, int> position;
    /// Loops whose induction or carried values a node depends on (not counting loops inside it).
    std::unordered_map<const Node*, std::vector<const Node*>> loops;
    std::unordered_map<const Node*, const Node*> arg_owner;  // RegionArg -> Loop
    std::unordered_map<const Node*, int> arg_index;          // RegionArg -> position
    NodeSet host_loops;
    /// Versions of what kernels by hand store to: their arrays, and the tensors that they carry.
    NodeSet arrays;
};
RegionFacts region_facts(const Graph& graph);

/// What the body of a Loop gives, or the bodies of an If; nothing for other nodes.
std::vector<Ref> region_results(const Node& node);
/// The induction of every host loop as a symbol of its own: for host_size before the loops have
/// their steps.
std::unordered_map<const Node*, Size> host_inductions(const RegionFacts& regions);
/// The kernel by hand that a node belongs to or is, null where there is none.
const Node* kernel_by_hand(const RegionFacts& regions, const Node& node);
/// A tensor after a kernel by hand has stored to it.
bool is_stored_by_hand(const Node& node);
/// Has one meaning for each invocation of a kernel by hand, whatever the index it is asked at.
bool is_of_invocations(const RegionFacts& regions, const Node& node);
/// The innermost host loop that a node belongs to, null for the top.
const Node* home_loop(const RegionFacts& regions, const Node& node);
/// It depends on the iteration of a loop inside a kernel: it has no memory of its own.
bool inside_kernel_loop(const RegionFacts& regions, const Node& node);
/// The Loop inside a kernel that gives the value back element by element, null where none does.
const Node* loop_of_result(const RegionFacts& regions, const Node& node);
/// The indices of the kernel that computes a value: the value's own, the positions of a store, the
/// invocations of a kernel by hand.
const Shape& grid_shape(const RegionFacts& regions, const Node& root);

}  // namespace firn
