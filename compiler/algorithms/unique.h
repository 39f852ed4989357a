// The different elements of a tensor.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// The different elements of x, sorted, as numpy's unique: a vector whose size only the device
/// knows (see compact). All nan are one, and so are 0 and -0.
///
/// Example: `unique(tensor({3.0f, NAN, 1.0f, NAN, 3.0f}))` is `{1, 3, nan}`.
Tensor unique(const Operand& x);

/// The result of `unique_all`.
struct Unique {
    Tensor values;   ///< [count], sorted
    Tensor indices;  ///< i32 [count]: where each occurs first in x flattened
    Tensor counts;   ///< i32 [count]: how often
    Tensor inverse;  ///< i32 of x's shape: values(inverse) is x
};
/// The same with where and how often they occur.
///
/// Example: after `Unique u = unique_all(tensor({3, 1, 3}));` `u.values` is `{1, 3}`, `u.indices`
/// is `{1, 0}`, `u.counts` is `{1, 2}` and `u.inverse` is `{1, 0, 1}`.
Unique unique_all(const Operand& x);

}  // namespace firn
