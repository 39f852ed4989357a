// The meaning of every elementwise operation on one element: interpreters and constant folding share it.
#pragma once
#include <cmath>
#include <span>

#include "compiler/ir/graph.h"

namespace firn {

/// One element of an elementwise operation (Cast and Bitcast too: to `dtype`). f32 operations round to
/// f32, f16 operations are done in f32 and rounded to f16, integers wrap.
Scalar evaluate(Op op, DType dtype, std::span<const Scalar> inputs);
/// One step of a reduction.
Scalar evaluate_reduce(ReduceOp op, const Scalar& accumulator, const Scalar& value);
/// The index that a bounds mode reads for `i` on an axis of `n` elements; -1: the fill value.
int64_t bounded_index(Bounds mode, int64_t i, int64_t n);

/// Of two floats; the number where one is nan. Of two zeros the same one in either order, as a sorted operation needs:
/// -0 is the smaller.
template <class T> T smaller(T x, T y) { return x != x ? y : y != y ? x : y < x || (x == y && std::signbit(y)) ? y : x; }
template <class T> T larger(T x, T y) { return x != x ? y : y != y ? x : x < y || (x == y && std::signbit(x)) ? y : x; }

}  // namespace firn
