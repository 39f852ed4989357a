// Turns loops inside kernels into loops of kernels.
#pragma once
#include <unordered_set>

#include "compiler/ir/graph.h"

namespace firn {

/// Turns the given loops into loops of kernels, whose iterations can keep values in memory.
/// Requires: the loops run inside kernels, and the user wrote none of these by hand. Ensures: the
/// same values. Runs before open_loops, which handles loops of kernels.
Graph host_loops(NodeTable& table, const Graph& graph,
                 const std::unordered_set<const Node*>& loops);

}  // namespace firn
