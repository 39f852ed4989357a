// Forward mode: tangents of results from tangents of inputs.
#pragma once
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"

namespace firn {

/// For every result the sum over `inputs` of its derivative by the input times tangents[k], which
/// has the shape and dtype of inputs[k]: of the result's shape and dtype, null where it depends on
/// none. There is one sweep for any number of results, and nothing is kept: loops carry tangents
/// beside their values. If a function has no derivative, the result uses the same subgradient as
/// reverse_gradients(). Throws UserError, with the user's line, at an operation that has no rule.
std::vector<Ref> forward_tangents(const Builder& b, const std::vector<Ref>& results,
                                  const std::vector<Ref>& inputs, const std::vector<Ref>& tangents);

}  // namespace firn
