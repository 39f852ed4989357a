// Householder's reflections, applied to the matrix and gathered in q.
#include "compiler/algorithms/linear_algebra.h"
#include "compiler/algorithms/matrices.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

/// m - beta v (v' m): the reflection by v from the left. v is [batch, rows], beta [batch].
Tensor reflected(const Tensor& m, const Tensor& v, const Tensor& beta) {
    Tensor down = unsqueeze(v, 2);
    Tensor along = sum(down * m, {.axis = 1, .keep_dims = true});
    return m - reshape(beta, {beta.size(0), 1, 1}) * down * along;
}

}  // namespace

Qr qr(const Operand& a) {
    LineScope at(a.line());
    Matrices matrix = as_matrices("qr", a);
    Size rows = matrix.rows, columns = matrix.columns, steps = min(rows, columns);
    Tensor r = matrix.values;
    auto [batch, i] = indices<2>(Shape{r.size(0), rows});
    // Row k holds the vector of reflection k, and `betas` its factor.
    Tensor vectors = zeros({r.size(0), steps, rows}, r.dtype());
    Tensor betas = zeros({r.size(0), steps}, r.dtype());
    Tensor place = index(vectors, 1), step = index(betas, 1);
    for (Tensor k : loop(steps)) {
        Tensor column = select(i >= k, unchecked(r)(batch, i, k), 0);
        Tensor first = sum(select(i == k, column, 0), {.axis = 1});
        Tensor length = sqrt(sum(column * column, {.axis = 1}));
        // Away from the first element, so that nothing cancels.
        Tensor target = select(first > 0, -length, length);
        Tensor v = select(i == k, column - unsqueeze(target, 1), column);
        Tensor squared = sum(v * v, {.axis = 1});
        Tensor beta = select(squared > 0, 2 / squared, 0);
        r = reflected(r, v, beta);
        vectors = select(place == k, unsqueeze(v, 1), vectors);
        betas = select(step == k, unsqueeze(beta, 1), betas);
    }
    // q is the product of the reflections: applied to the first columns of the identity, the last
    // one first.
    Tensor q = expand(eye(rows, steps, r.dtype()), {r.size(0), rows, steps});
    auto [b, row] = indices<2>(Shape{r.size(0), rows});
    Tensor one = arange(r.size(0));
    for (Tensor turn : loop(steps)) {
        Tensor k = steps - 1 - turn;
        q = reflected(q, unchecked(vectors)(b, k, row), unchecked(betas)(one, k));
    }
    Tensor upper = slice(r, {.axis = 1, .end = steps});
    upper = select(index(upper, 1) <= index(upper, 2), upper, 0);
    return {with_batch(q, matrix.batch), with_batch(upper, matrix.batch)};
}

}  // namespace firn
