// Graphs as text: printing, parsing, and the verifier's findings.
#pragma once
#include <string>

#include "compiler/ir/graph.h"

namespace firn {

struct PrintOptions {
    bool lines = false;   // the user's lines as trailing comments
    bool numbers = true;  // else # in place of sizes that are numbers, and of i32 constants
};
/// The Graph as text, one node a line, numbered in topological order; regions indented. Equal
/// graphs print equally, regardless of their history: this text is also the key of the plan cache.
/// Buffers print by order of first use.
std::string print(const Graph& graph, PrintOptions options = {});
/// Reads what `print` wrote: print(parse(print(g))) == print(g). Throws UserError with line and
/// column.
Graph parse(NodeTable& table, const std::string& text);
/// Throws InternalError naming the first node that breaks a rule of graph.h, and the pass `after`.
void verify(const Graph& graph, const std::string& after);

/// The names that texts and messages use: `clamp`, `sum`, `last`.
const char* name(Bounds mode);
const char* name(ReduceOp op);
const char* name(ScatterOp op);
const char* name(SubgroupOp op);

}  // namespace firn
