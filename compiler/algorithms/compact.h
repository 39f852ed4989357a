// Choosing elements by a condition, with room for all of them.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// What was chosen stands in front, in its order; `count` of `values` are valid, the rest is 0.
/// The room is that of the input, since only the data knows how many there are.
struct Compacted {
    Tensor values;
    Tensor count;  // rank 0, i32
};

/// The slices x(i) along the first axis for which `chosen`, [n], holds, as numpy's compress. Not a
/// bool: what is not 0.
Compacted compact(const Operand& x, const Operand& chosen);
/// The indices of what is not 0 in row-major order, i32 [elements, rank], as numpy's argwhere.
Compacted nonzero(const Operand& x);

}  // namespace firn
