// Products of tensors by numpy's names.
#pragma once
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

// Types are those of matmul. Axes that are summed over must have equal sizes, else UserError.

/// The sum of products over the last `axes` axes of a and the first of b; 0: all pairs.
Tensor tensordot(const Operand& a, const Operand& b, int axes = 2);
/// Over pairs of axes: `tensordot(a, b, {1, 0}, {0, 1})`. The result has the other axes of a, then
/// those of b.
Tensor tensordot(const Operand& a, const Operand& b, const std::vector<int>& a_axes,
                 const std::vector<int>& b_axes);
/// a[i] b[j] of both flattened.
Tensor outer(const Operand& a, const Operand& b);
/// The sum of products over the last axes of both; a number times a tensor is their product.
Tensor inner(const Operand& a, const Operand& b);
/// The sum of products of both flattened.
Tensor vdot(const Operand& a, const Operand& b);
/// Kronecker's product: every element of a times the whole of b, sizes multiplied axis by axis.
Tensor kron(const Operand& a, const Operand& b);
/// The vector product over last axes of 3; the other axes broadcast. UserError where one is not 3.
Tensor cross(const Operand& a, const Operand& b);
/// a [.., n, n] multiplied with itself, by squaring; 0: the identity; negative: the inverse's, in
/// floats.
Tensor matrix_power(const Operand& a, int power);

}  // namespace firn
