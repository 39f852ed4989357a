// Matrix products, written with tensors.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// The matrix product as in numpy: [.., n, k] and [.., k, m] give [.., n, m], leading axes
/// broadcast; a 1-D operand is a row on the left and a column on the right, and its axis goes.
/// Two f16 give f16 and two bf16 bf16, by products and sums in f32. UserError: an operand without
/// axes, inner sizes that differ.
///
/// Examples: after `Tensor a = tensor({1, 2, 3, 4}, {2, 2}), v = tensor({1, 10});` `matmul(a, a)`
/// is `{{7, 10}, {15, 22}}`, `matmul(a, v)` is `{21, 43}`, `matmul(v, a)` is `{31, 42}`.
Tensor matmul(const Operand& a, const Operand& b);

}  // namespace firn
