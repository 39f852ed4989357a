// Gradients by the tensors that a value depends on; internal.
#pragma once
#include <optional>
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

/// grad() by each of xs; none by a tensor that y does not depend on.
std::vector<std::optional<Tensor>> used_gradients(const Tensor& y, const std::vector<Tensor>& xs,
                                                  SourceLine line);

}  // namespace firn
