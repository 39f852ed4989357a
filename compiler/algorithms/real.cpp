// Integers and bools become f32, f16 and bf16 are computed in it.
#include "compiler/algorithms/real.h"

namespace firn {

DType real_type(DType own) { return own.is_float() ? own : f32; }
Tensor as_wide(const Tensor& x) { return x.as(x.dtype() == f64 ? f64 : f32); }

}  // namespace firn
