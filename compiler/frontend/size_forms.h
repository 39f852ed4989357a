// Graphs that differ in their sizes alone, and the one graph with symbols that serves all of them;
// internal.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/program/size_env.h"

namespace firn {

/// A graph with numbers as sizes, without these numbers.
struct SizeForm {
    std::string text;  // equal for graphs that differ in their sizes alone
    /// Every size that a node holds, and every number that is an i32, in a fixed order.
    std::vector<int64_t> numbers;
};
/// Returns nothing if a graph has sizes that are no numbers.
std::optional<SizeForm> form_of(const Graph& graph);

/// The numbers of a form as sizes of symbols.
struct SizedNumbers {
    std::vector<Size> sizes;
    /// The symbols, and which of the numbers each one is.
    std::vector<std::pair<std::string, size_t>> symbols;

    /// The values of the symbols with which the sizes are these numbers, where there are such.
    std::optional<SizeEnv> fit(const std::vector<int64_t>& numbers) const;
};
/// Returns sizes that fit all of the `examples`, numbers of graphs of the form of `graph`. A number
/// that is the same in all of them stays one; one that always equals a symbol, differs from it by a
/// constant, or is a multiple or a product of others, is expressed by these; each other one is a
/// symbol of its own. Nothing if another i32 changes, because that need not be a size.
std::optional<SizedNumbers> sized_numbers(const Graph& graph,
                                          const std::vector<std::vector<int64_t>>& examples);

/// The graph with those sizes in place of its numbers, and without rules of gradients.
/// InternalError where its operations do not allow them.
Graph with_sizes(NodeTable& table, const Graph& graph, const SizedNumbers& sized);

}  // namespace firn
