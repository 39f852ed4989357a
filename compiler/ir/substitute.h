// Nodes with other sizes.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

/// Returns the facts of symbols as sizes: numbers, or multiples of their divisors.
SizeMap known_sizes(const SymbolFacts& facts);
/// `shape` with symbols replaced.
Shape substituted(const Shape& shape, const SizeMap& map);
/// Rebuilds `roots` with symbols replaced in every shape and attribute; region arguments become
/// fresh. `replace`: nodes to be taken as given. Loops that are known to end at once give their
/// initial values, and their bodies are not visited.
std::vector<Ref> substitute_sizes(NodeTable& table, const std::vector<Ref>& roots,
                                  const SizeMap& map,
                                  const std::unordered_map<const Node*, Ref>& replace = {});
/// The same graph of nodes of another table, without loops that end at once where `facts` hold.
Graph copied_graph(NodeTable& table, const Graph& graph, const SymbolFacts& facts = {});

}  // namespace firn
