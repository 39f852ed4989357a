// Text in, text out: one pass over one graph, with the oracle asked on both sides.
#pragma once
#include <string>

#include "compiler/passes/passes.h"

namespace firn {

using Pass = Graph (*)(NodeTable&, const Graph&, RuleCounts*);

/// Runs `pass` on `before`, expects `after`, and expects the same results from the interpreter for
/// arguments full of ugly values.
void check(Pass pass, const std::string& before, const std::string& after);

/// The graph as the passes leave it that depend on no device.
Graph simplified(NodeTable& table, const Graph& graph, const GraphPassOptions& options = {});

/// The text with values numbered in the order in which they first stand there: they may have names.
std::string numbered(const std::string& text);

}  // namespace firn
