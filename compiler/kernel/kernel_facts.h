// Facts of a node of Kernel code: what it depends on, and its bounds as numbers and as sizes of a
// call.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/affine.h"

namespace firn {

/// A sum of multiples of nodes.
using LinearForm = Affine<NodeId>;

struct NodeFacts {
    std::optional<Size> lo, hi;        // symbolic bounds
    std::optional<LinearForm> linear;  // i32 sums
    std::vector<RangeId> ranges;       // those that it depends on, sorted
};

/// Its interval and bounds say something.
bool has_bounds(const KernelNode& n);
/// Writes the interval and the congruence of an elementwise i32 node.
void bound(const KernelCode& code, KernelNode& n);

/// Returns the facts of node `id`, whose interval is known, from the facts of the nodes before it;
/// its linear form is left open.
NodeFacts facts_of(const KernelCode& code, const ByNode<NodeFacts>& known,
                   const SymbolFacts& symbols, NodeId id);

}  // namespace firn
