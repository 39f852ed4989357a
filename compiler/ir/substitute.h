// Nodes with other sizes.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

/// What is known of symbols, as sizes that say it: numbers, or multiples of what divides them.
SizeMap known_sizes(const SymbolFacts& facts);
/// `shape` with symbols replaced.
Shape substituted(const Shape& shape, const SizeMap& map);
/// Rebuilds `roots` with symbols replaced in every shape and attribute; region arguments become
/// fresh. `replace`: nodes to be taken as given. Loops that are known to end at once give what they
/// begin with, and nothing of them is looked at.
std::vector<Ref> substitute_sizes(NodeTable& table, const std::vector<Ref>& roots,
                                  const SizeMap& map,
                                  const std::unordered_map<const Node*, Ref>& replace = {});
/// The same graph of nodes of another table, without loops that end at once where `facts` hold.
Graph copied_graph(NodeTable& table, const Graph& graph, const SymbolFacts& facts = {});

}  // namespace firn
