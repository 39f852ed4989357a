// Memory that is stored to as a whole; internal.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// A tensor with nothing in it: nobody may read what was not stored to.
Tensor unset(DType dtype, const Shape& shape);
/// Of the shape and type of x.
Tensor unset_like(const Tensor& x);

}  // namespace firn
