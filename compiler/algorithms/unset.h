// Memory that is stored to as a whole; internal.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// Returns a tensor without values: an element may only be read after a store to it.
Tensor unset(DType dtype, const Shape& shape);
/// Returns one with the shape and type of x.
Tensor unset_like(const Tensor& x);

}  // namespace firn
