// Elementwise functions with an explicit derivative; internal.
#pragma once
#include "compiler/base/callback.h"
#include "compiler/frontend/tensor.h"

namespace firn {

/// The derivative by x of a value y that is made from x element by element.
using Slope = Callback<Tensor(const Tensor& x, const Tensor& y)>;
/// `value`, made from x element by element, with a derivative that does not follow from its
/// operations: where one of their factors overflows, cancels or does not exist. Recorded in
/// operations that have derivatives themselves.
Tensor with_slope(const Tensor& value, const Tensor& x, const Slope& slope);
/// cotangent * slope, and 0 where the cotangent is: a choice that leaves a value out leaves its
/// slope out too, be it infinite or not a number.
Tensor scaled_cotangent(const Tensor& cotangent, const Tensor& slope);

}  // namespace firn
