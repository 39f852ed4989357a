// Triangular systems and Cholesky's factorisation, column by column.
#include "compiler/algorithms/linear_algebra.h"
#include "compiler/algorithms/matmul.h"
#include "compiler/algorithms/matrices.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reader.h"

namespace firn {
Tensor solve_triangular(const Operand& a, const Operand& b, const TriangularOptions& options) {
    LineScope at(a.line());
    Matrices matrix = as_square_matrices("solve_triangular", a);
    const Shape& right = b.tensor().shape();
    check_right_side("solve_triangular", a.tensor().shape(), right);
    if (right.size() == 1)
        return squeeze(solve_triangular(a, unsqueeze(b, 1), options), {.axis = -1});
    const Tensor& m = matrix.values;
    Matrices columns = as_matrices("solve_triangular", b);
    Tensor x = columns.values.as(m.dtype() == f64 ? f64 : columns.values.dtype());
    Size n = matrix.rows;
    auto [batch, i, j] = indices<3>(x.shape());
    for (Tensor iteration : loop(n)) {
        Tensor k = options.lower ? iteration : n - 1 - iteration;
        Tensor known = unchecked(x)(batch, k, j);
        if (!options.unit) known = known / unchecked(m)(batch, k, k);
        Tensor open = options.lower ? i > k : i < k;
        x = select(i == k, known, select(open, x - unchecked(m)(batch, i, k) * known, x));
    }
    return with_batch(x, columns.batch);
}

namespace {

/// The same with one axis of batches.
Tensor cholesky_of(const Tensor& a) {
    Tensor l = a;
    auto [batch, i, j] = indices<3>(l.shape());
    for (Tensor k : loop(a.size(1))) {
        Tensor pivot = sqrt(unchecked(l)(batch, k, k));
        // The column below the pivot is done; the part to its right is reduced by its outer
        // product.
        Tensor down = unchecked(l)(batch, i, k) / pivot, across = unchecked(l)(batch, j, k) / pivot;
        Tensor column = select(i == k, pivot, down);
        Tensor rest = select((j > k) & (i >= j), l - down * across, l);
        l = select((j == k) & (i >= k), column, rest);
    }
    return select(i >= j, l, 0);
}

/// The cotangent of the lower triangle of a, from that of l: I. Murray, "Differentiation of the
/// Cholesky decomposition", 2016, by triangular systems.
Tensor behind_cholesky(const Tensor& l, const Tensor& g) {
    auto [batch, i, j] = indices<3>(l.shape());
    const Tensor up = transpose(l, -1, -2), inner = matmul(up, select(i >= j, g, 0));
    const Tensor half = select(i > j, inner, select(i == j, 0.5f * inner, 0));
    const Tensor left = solve_triangular(up, half, {.lower = false});
    const Tensor both = solve_triangular(up, transpose(left, -1, -2), {.lower = false});
    const Tensor transposed = transpose(both, -1, -2);
    return select(i > j, both + transposed, select(i == j, both, 0));
}

}  // namespace

Tensor cholesky(const Operand& a) {
    LineScope at(a.line());
    Matrices matrix = as_square_matrices("cholesky", a);
    const Tensor l = custom_gradient(
        [](const std::vector<Tensor>& xs) { return cholesky_of(xs[0]); }, {matrix.values},
        [](const std::vector<Tensor>&, const Tensor& l, const Tensor& g) {
            return std::vector<Tensor>{behind_cholesky(l, g)};
        });
    return with_batch(l, matrix.batch);
}

}  // namespace firn
