// The different elements of a tensor.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// The different elements of x, sorted, as numpy's unique: a vector whose size only the device
/// knows (see compact). All nan are one, and so are 0 and -0.
Tensor unique(const Operand& x);

struct Unique {
    Tensor values;   // [count], sorted
    Tensor indices;  // i32 [count]: where each occurs first in x flattened
    Tensor counts;   // i32 [count]: how often
    Tensor inverse;  // i32 of x's shape: values(inverse) is x
};
/// The same with where and how often they occur.
Unique unique_all(const Operand& x);

}  // namespace firn
