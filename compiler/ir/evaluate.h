// The meaning of every elementwise operation on one element: interpreters and constant folding
// share it.
#pragma once
#include <span>

#include "compiler/ir/graph.h"

namespace firn {

/// Computes one element of an elementwise operation (Cast and Bitcast too: to `dtype`). f32
/// operations round to f32, operations on f16 and bf16 are done in f32 and rounded, integers wrap.
Scalar evaluate(Op op, DType dtype, std::span<const Scalar> inputs);
/// Computes a step of a reduction.
Scalar evaluate_reduce(ReduceOp op, const Scalar& accumulator, const Scalar& value);
/// The index that a bounds mode reads for `i` on an axis of `n` elements; -1: the fill value.
int64_t bounded_index(Bounds mode, int64_t i, int64_t n);

}  // namespace firn
