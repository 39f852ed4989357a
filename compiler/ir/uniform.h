// Values that are the same for every invocation of a group.
#pragma once
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

/// Returns whether every invocation of a kernel's group has the same value, as far as the graph
/// shows: numbers, values computed from group_index, and reads at such indices. `known`: nodes to
/// be taken as uniform.
bool is_uniform(const Node& node, const std::vector<uint32_t>& group,
                const std::unordered_set<const Node*>& known = {});

}  // namespace firn
