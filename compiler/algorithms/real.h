// The float types that functions of real numbers give and are computed in; internal.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// The type of real numbers made from `own`: itself where it is a float, else f32.
DType real_type(DType own);
/// x in the type that it is computed in: f64 stays, all others become f32.
Tensor as_wide(const Tensor& x);

}  // namespace firn
