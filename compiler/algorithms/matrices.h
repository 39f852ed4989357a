// A batch of matrices as one axis in front; internal.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// [batch, n, m] in a float type that is computed in, and the shape that the batch had.
struct Matrices {
    Tensor values;
    Shape batch;
    Size rows, columns;
};

/// `what` names the function in the UserError if x has less than two axes.
Matrices as_matrices(const char* what, const Operand& x);
/// The same; not square is a UserError too.
Matrices as_square_matrices(const char* what, const Operand& x);
/// UserError unless b is [.., n, k], or [n] without a batch, for a [.., n, n].
void check_right_side(const char* what, const Shape& a, const Shape& b);
/// The batch as it was; `x` has any axes after the first.
Tensor with_batch(const Tensor& x, const Shape& batch);

}  // namespace firn
