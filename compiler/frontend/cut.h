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
    std::vector<BufferAttr> buffers;  // that the arguments are; none for numbers
    std::vector<SizeAtom> symbols;    // graph.data_sizes while recording
};

/// Marks the finite float constants of a graph, in the order of first use, that are arguments
/// although they are worth folding; none beyond its end.
using UnfoldedNumbers = std::vector<bool>;

/// The graph of `results` whose Buffers are arguments, in the order of first use, and whose float
/// constants and parameters are scalar arguments, save floats worth folding. `numbers` gets the
/// finite ones. A value that was computed already, and is not trivial, is its Buffer. Recording the
/// same with other data or other constants gives the same graph.
Cut cut_graph(NodeTable& table, const std::vector<Ref>& results,
              const UnfoldedNumbers& unfolded = {}, std::vector<double>* numbers = nullptr);

/// True where computing the value twice costs nothing.
bool is_trivial(const Node& node);

/// The same for Buffers only, with arguments after `first` declared ones (which come first in the
/// graph): how a compiled function holds the tensors it captured. Constants stay, parameters become
/// constants.
Cut cut_buffers(NodeTable& table, const std::vector<Ref>& results,
                const std::vector<Ref>& declared);

}  // namespace firn
