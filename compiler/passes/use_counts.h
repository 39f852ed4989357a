// How often a graph's values are used.
#pragma once
#include <unordered_map>

#include "compiler/ir/graph.h"

namespace firn {

/// By nodes, by what loops and branches give, and as results.
using UseCounts = std::unordered_map<const Node*, int>;
UseCounts use_counts(const std::vector<Ref>& results);

}  // namespace firn
