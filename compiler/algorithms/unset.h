// Memory that is stored to as a whole; internal.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// Of the shape and type of x, with nothing in it: nobody may read what was not stored to.
Tensor unset_like(const Tensor& x);

}  // namespace firn
