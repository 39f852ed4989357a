// Finds the nodes that depend on the targets of a derivative.
#pragma once
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

/// The nodes of `order` (operands first, what is inside of regions too) that change smoothly with
/// `targets`, which are among them. A loop or a branch is active if anything in it is; readers of
/// its results ask for the node itself.
std::unordered_set<const Node*> active_values(const std::vector<Ref>& order,
                                              const std::vector<Ref>& targets);

}  // namespace firn
