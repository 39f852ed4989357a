// Batches of matrices: shapes in and out.
#include "compiler/algorithms/matrices.h"

#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/movement.h"

namespace firn {

Matrices as_matrices(const char* what, const Operand& x) {
    Tensor values = x.tensor();
    Shape shape = values.shape();
    if (shape.size() < 2)
        refuse(std::string(what) + ": the shape is " + text(shape) + "; a matrix has two axes");
    Matrices out{Tensor(), {shape.begin(), shape.end() - 2}, shape[shape.size() - 2], shape.back()};
    out.values = reshape(values, {element_count(out.batch), out.rows, out.columns})
                     .as(values.dtype() == f64 ? f64 : f32);
    return out;
}

Matrices as_square_matrices(const char* what, const Operand& x) {
    Matrices out = as_matrices(what, x);
    if ((out.rows - out.columns).is_constant() && !(out.rows == out.columns))
        refuse(std::string(what) + ": the matrix is " + out.rows.text() + " by " +
               out.columns.text() + "; it must be square");
    return out;
}

void check_right_side(const char* what, const Shape& a, const Shape& b) {
    bool vector = b.size() == 1 && a.size() == 2;
    size_t rows = vector ? 0 : b.size() - 2;
    bool fit = vector || b.size() == a.size();
    for (size_t k = 0; fit && k <= rows; ++k) fit = !(a[k] - b[k]).is_constant() || a[k] == b[k];
    if (!fit)
        refuse(std::string(what) + ": a is " + text(a) + " and b is " + text(b) +
               "; b has as many rows as a, and the same batch");
}

Tensor with_batch(const Tensor& x, const Shape& batch) {
    Shape shape = batch, own = x.shape();
    shape.insert(shape.end(), own.begin() + 1, own.end());
    return reshape(x, shape);
}

}  // namespace firn
