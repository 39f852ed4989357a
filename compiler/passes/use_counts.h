// Counts the uses of a graph's values.
#pragma once
#include <unordered_map>

#include "compiler/ir/graph.h"

namespace firn {

/// Counts uses by nodes, by results of loops and branches, and as results.
using UseCounts = std::unordered_map<const Node*, int>;
UseCounts use_counts(const std::vector<Ref>& results);

}  // namespace firn
