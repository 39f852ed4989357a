// Gaussian elimination with row exchanges, and its uses.
#include "compiler/algorithms/linear_algebra.h"
#include "compiler/algorithms/matmul.h"
#include "compiler/algorithms/matrices.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/reader.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

/// The same with one axis of batches.
Lu lu_of(const Matrices& matrix) {
    Tensor m = matrix.values;
    Size n = matrix.rows, batches = m.size(0);
    auto [batch, i, j] = indices<3>(m.shape());
    auto [batch_of_row, row] = indices<2>(Shape{batches, n});
    Tensor order = row, sign = ones({batches}, m.dtype());
    if (n.is(0)) return {m, order, sign};
    for (Tensor k : loop(n)) {
        Tensor column = abs(unchecked(m)(batch_of_row, row, k));
        Tensor pivot = argmax(select(row >= k, column, -1), {.axis = 1});  // [batches]
        // The row that stands at i after the exchange of rows k and pivot.
        auto exchanged = [&](const Tensor& b, const Tensor& r) {
            Tensor p = unchecked(pivot)(b);
            return select(r == k, p, select(r == p, k, r));
        };
        order = unchecked(order)(batch_of_row, exchanged(batch_of_row, row));
        sign = select(pivot == k, sign, -sign);
        Tensor from = exchanged(batch, i), p = unchecked(pivot)(batch);
        Tensor own = unchecked(m)(batch, from, j), top = unchecked(m)(batch, p, j);
        Tensor factor = unchecked(m)(batch, from, k) / unchecked(m)(batch, p, k);
        // A column of zeros needs no elimination, and leaves a 0 on the diagonal.
        factor = select(unchecked(m)(batch, p, k) == 0, 0, factor);
        m = select(i > k, select(j > k, own - factor * top, select(j == k, factor, own)), own);
    }
    return {m, order, sign};
}

Tensor solved(const Tensor& a, const Tensor& b) {
    Lu factors = lu(a);
    Tensor right = gather(b, unsqueeze(factors.permutation, -1), {.axis = -2});
    Tensor below = solve_triangular(factors.lu, right, {.unit = true});
    return solve_triangular(factors.lu, below, {.lower = false});
}

}  // namespace

Lu lu(const Operand& a) {
    LineScope at(a.line());
    Matrices matrix = as_square_matrices("lu", a);
    Lu out = lu_of(matrix);
    return {with_batch(out.lu, matrix.batch), with_batch(out.permutation, matrix.batch),
            with_batch(out.sign, matrix.batch)};
}

Tensor solve(const Operand& a, const Operand& b) {
    LineScope at(a.line());
    as_square_matrices("solve", a);
    check_right_side("solve", a.tensor().shape(), b.tensor().shape());
    if (b.tensor().rank() == 1) return squeeze(solve(a, unsqueeze(b, 1)), {.axis = -1});
    // The cotangents of a x = b come from one more system, with the transposed matrix: M. Giles,
    // "Collected Matrix Derivative Results for Forward and Reverse Mode Algorithmic
    // Differentiation", 2008.
    return custom_gradient(
        [](const std::vector<Tensor>& xs) { return solved(xs[0], xs[1]); },
        {a.tensor(), b.tensor()},
        [](const std::vector<Tensor>& xs, const Tensor& x, const Tensor& g) {
            const Tensor by_b = solve(transpose(xs[0], -1, -2), g);
            return std::vector<Tensor>{-matmul(by_b, transpose(x, -1, -2)), by_b};
        });
}

Tensor inverse(const Operand& a) {
    LineScope at(a.line());
    const Shape& shape = a.tensor().shape();
    as_square_matrices("inverse", a);
    return solve(a, expand(eye(shape.back()), shape));
}

Tensor determinant(const Operand& a) {
    LineScope at(a.line());
    Lu factors = lu(a);
    return prod(diagonal(factors.lu), {.axis = -1}) * factors.sign;
}

Tensor log_determinant(const Operand& a) {
    LineScope at(a.line());
    return slogdet(a).logabsdet;
}

Slogdet slogdet(const Operand& a) {
    LineScope at(a.line());
    // Both as one tensor with a gradient rule: the gradient of the logarithm is the transposed
    // inverse.
    const Tensor both = custom_gradient(
        [](const std::vector<Tensor>& xs) {
            const Lu factors = lu(xs[0]);
            const Tensor pivots = diagonal(factors.lu);
            const Tensor signs = select(pivots < 0, -1, select(pivots == 0, 0, 1));
            return stack({prod(signs.as(pivots.dtype()), {.axis = -1}) * factors.sign,
                          sum(log(abs(pivots)), {.axis = -1})});
        },
        {a.tensor()},
        [](const std::vector<Tensor>& xs, const Tensor&, const Tensor& g) {
            return std::vector<Tensor>{unsqueeze(unsqueeze(g(1), -1), -1) *
                                       transpose(inverse(xs[0]), -1, -2)};
        });
    return {both(0), both(1)};
}

}  // namespace firn
