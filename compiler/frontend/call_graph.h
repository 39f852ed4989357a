// The graph of a function for one kind of call, and the numbers that the host computes before such
// a call; internal.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/program/executor.h"

namespace firn {

struct CallGraph {
    Graph graph;
    /// Integers that bound loops and that depend on numbers of the call by other expressions than
    /// sizes, such as ceil(2.5f * sigma): the host computes them, and they are scalar arguments
    /// behind the others.
    Graph host_bounds;
    std::vector<size_t> numbers;         // the function's arguments that this graph takes
    std::set<std::string> trip_symbols;  // scalar arguments that are trip counts of loops
};

/// Returns the graph in which those rank-0 arguments are tensors that are tensors at the call.
/// `kinds` has a letter for each rank-0 argument: s for a number, t for a tensor on the device.
Graph with_kinds(NodeTable& table, const Graph& graph, const std::string& kinds);
/// The same, with the bounds of loops that the host computes as arguments.
CallGraph call_graph(NodeTable& table, const Graph& graph, const std::string& kinds);
/// The values of the host bounds at a call with these arguments.
std::vector<int64_t> host_bounds(const CallGraph& graph, const Call& call, const SizeEnv& symbols);

}  // namespace firn
