// Products of tensors by numpy's names.
#pragma once
#include <vector>

#include "compiler/frontend/tensor.h"

namespace firn {

/// The sum of products over the last `axes` axes of a and the first of b; 0: all pairs. Types are
/// those of matmul. Axes that are summed over must have equal sizes, else UserError.
///
/// Examples: after `Tensor a = tensor({1, 2, 3, 4}, {2, 2}), v = tensor({1, 10});`
/// `tensordot(a, a)` is `30`, `tensordot(a, v, 1)` is `{21, 43}`, `tensordot(v, v, 0)` is
/// `{{1, 10}, {10, 100}}`.
Tensor tensordot(const Operand& a, const Operand& b, int axes = 2);
/// The sum of products over pairs of axes; the result has the other axes of a, then those of b.
///
/// Examples: after `Tensor a = tensor({1, 2, 3, 4}, {2, 2});` `tensordot(a, a, {1, 0}, {0, 1})` is
/// `29`, `tensordot(a, tensor({1, 10}), {0}, {0})` is `{31, 42}`.
Tensor tensordot(const Operand& a, const Operand& b, const std::vector<int>& a_axes,
                 const std::vector<int>& b_axes);
/// a[i] b[j] of both flattened.
///
/// Example: `outer(tensor({1, 2}), tensor({3, 4, 5}))` is `{{3, 4, 5}, {6, 8, 10}}`.
Tensor outer(const Operand& a, const Operand& b);
/// The sum of products over the last axes of both; a number times a tensor is their product. Types
/// and errors are those of tensordot.
///
/// Examples: `inner(tensor({1, 2, 3}), tensor({4, 5, 6}))` is `32`,
/// `inner(Tensor(2), tensor({1, 2}))` is `{2, 4}`.
Tensor inner(const Operand& a, const Operand& b);
/// The sum of products of both flattened. Types and errors are those of tensordot.
///
/// Example: `vdot(tensor({1, 2, 3, 4}, {2, 2}), tensor({1, 10, 100, 1000}))` is `4321`.
Tensor vdot(const Operand& a, const Operand& b);
/// Kronecker's product: every element of a times the whole of b, sizes multiplied axis by axis.
///
/// Example: `kron(tensor({1, 2}), tensor({1, 10}))` is `{1, 10, 2, 20}`.
Tensor kron(const Operand& a, const Operand& b);
/// The vector product over last axes of 3; the other axes broadcast. UserError where one is not 3.
///
/// Example: `cross(tensor({1, 0, 0}), tensor({0, 1, 0}))` is `{0, 0, 1}`.
Tensor cross(const Operand& a, const Operand& b);
/// a [.., n, n] multiplied with itself, by squaring; 0: the identity; negative: the inverse's, in
/// floats.
///
/// Examples: `matrix_power(tensor({1, 1, 1, 0}, {2, 2}), 10)` is `{{89, 55}, {55, 34}}`,
/// `matrix_power(tensor({2, 0, 0, 4}, {2, 2}), -1)` is `{{0.5, 0}, {0, 0.25}}`.
Tensor matrix_power(const Operand& a, int power);

}  // namespace firn
