// Makes graphs for gradients: replaces computed values by their histories; internal.
#pragma once
#include <vector>

#include "compiler/frontend/record.h"

namespace firn {

/// Returns `values` as they were before Buffers replaced nodes, as far as they change with one of
/// `xs`: such Buffers are replaced by their histories, and a node of `xs` that occurs in another
/// form by that of `xs`. `xs` become the nodes that stand for them there. UserError if a needed
/// history is forgotten.
std::vector<Ref> with_history(SessionState& session, const std::vector<Ref>& values,
                              std::vector<Ref>& xs, SourceLine line);

}  // namespace firn
