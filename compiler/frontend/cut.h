// Cuts a recorded graph at its leaves: buffers and constants become the arguments of a call;
// internal.
#pragma once
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/program/executor.h"

namespace firn {

struct Cut {
    Graph graph;
    Call call;                        // arguments and scalars
    std::vector<BufferAttr> buffers;  // the Buffers behind the arguments; numbers have none
    std::vector<SizeAtom> symbols;    // graph.data_sizes while recording
};

/// One entry for each finite float constant of a graph, in the order of first use: true if the
/// constant is an argument although it is worth folding. Constants beyond the end are not.
using UnfoldedNumbers = std::vector<bool>;

/// The graph of `results` whose Buffers are arguments, in the order of first use, and whose float
/// constants and parameters are scalar arguments, save floats worth folding. `numbers` gets the
/// finite ones. A value that was computed already, and is not trivial, is its Buffer. Recording the
/// same with other data or other constants gives the same graph.
Cut cut_graph(NodeTable& table, const std::vector<Ref>& results,
              const UnfoldedNumbers& unfolded = {}, std::vector<double>* numbers = nullptr);

/// The graph of `results` whose Buffers, and values that were computed already, are arguments.
/// Constants stay, and equal values are not merged: for the oracle, which evaluates each node as it
/// stands, this is one walk instead of three.
Cut cut_as_recorded(NodeTable& table, const std::vector<Ref>& results);

/// True where computing the value twice costs nothing.
bool is_trivial(const Node& node);

/// Cuts at Buffers only. A compiled function holds the tensors it captured this way: they become
/// arguments after the `declared` ones, which come first in the graph. Constants stay, parameters
/// become constants.
Cut cut_buffers(NodeTable& table, const std::vector<Ref>& results,
                const std::vector<Ref>& declared);

}  // namespace firn
