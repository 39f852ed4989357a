// Graphs as gradients need them: behind what was computed already stands what it was computed from;
// internal.
#pragma once
#include <vector>

#include "compiler/frontend/record.h"

namespace firn {

/// `values` as they were before Buffers took the place of nodes, as far as they change with one of
/// `xs`: Buffers that do are replaced by what they were computed from, and a node of `xs` that is
/// there by another form of itself by that of `xs`. `xs` become the nodes that stand for them
/// there. UserError where what a value was computed from is forgotten, and one of `xs` is behind
/// it.
std::vector<Ref> with_history(SessionState& session, const std::vector<Ref>& values,
                              std::vector<Ref>& xs, SourceLine line);

}  // namespace firn
