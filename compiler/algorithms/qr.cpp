// Householder's reflections, applied to the matrix and gathered in q.
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
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

/// m - beta v (v' m): the reflection by v from the left. v is [batch, rows], beta [batch].
Tensor reflected(const Tensor& m, const Tensor& v, const Tensor& beta) {
    Tensor down = unsqueeze(v, 2);
    Tensor along = sum(down * m, {.axis = 1, .keep_dims = true});
    return m - reshape(beta, {beta.size(0), 1, 1}) * down * along;
}

/// The same with one axis of batches.
Qr qr_of(const Tensor& a) {
    Size rows = a.size(1), columns = a.size(2), steps = min(rows, columns);
    Tensor r = a;
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
    for (Tensor iteration : loop(steps)) {
        Tensor k = steps - 1 - iteration;
        q = reflected(q, unchecked(vectors)(b, k, row), unchecked(betas)(one, k));
    }
    Tensor upper = slice(r, {.axis = 1, .end = steps});
    upper = select(index(upper, 1) <= index(upper, 2), upper, 0);
    return {q, upper};
}

Tensor transposed(const Tensor& x) { return transpose(x, -1, -2); }

/// The term that `behind_q` and `behind_r` share.
Tensor behind_both(const Qr& of, const Tensor& m, const Tensor& own) {
    const Tensor i = index(m, 1), j = index(m, 2), below = select(i > j, m, 0);
    const Tensor symmetric = below + transposed(below) + select(i == j, m, 0);
    const Tensor right = own + matmul(of.q, symmetric);
    return transposed(solve_triangular(of.r, transposed(right), {.lower = false}));
}

// The cotangent of a = q r with no more columns than rows, from that of q and that of r: S. Walter,
// L. Lehmann and R. Lamour, "On evaluating higher-order derivatives of the QR decomposition", 2012.

Tensor behind_q(const Qr& of, const Tensor& g) {
    return behind_both(of, -matmul(transposed(g), of.q), g);
}

Tensor behind_r(const Qr& of, const Tensor& g) {
    return behind_both(of, matmul(of.r, transposed(g)), zeros(of.q.shape(), of.q.dtype()));
}

/// The columns of the first square, and those behind it: they follow from q alone.
struct Columns {
    Tensor square, rest;
};
Columns columns_of(const Tensor& x, const Size& rows) {
    return {slice(x, {.axis = 2, .end = rows}), slice(x, {.axis = 2, .begin = rows})};
}

Tensor behind_wide_q(const Tensor& a, const Qr& of, const Tensor& g) {
    const Size rows = a.size(1);
    const Tensor rest = columns_of(a, rows).rest;
    return concat(
        {behind_q({of.q, columns_of(of.r, rows).square}, g), zeros(rest.shape(), rest.dtype())},
        {.axis = 2});
}

Tensor behind_wide_r(const Tensor& a, const Qr& of, const Tensor& g) {
    const Size rows = a.size(1);
    const Qr first{of.q, columns_of(of.r, rows).square};
    const Columns by = columns_of(g, rows);
    const Tensor by_q = matmul(columns_of(a, rows).rest, transposed(by.rest));
    return concat({behind_q(first, by_q) + behind_r(first, by.square), matmul(of.q, by.rest)},
                  {.axis = 2});
}

/// q or r, with the rule of its own.
Tensor ruled(const Tensor& value, const Tensor& a, bool tall, bool is_q) {
    return custom_gradient(
        [&](const std::vector<Tensor>&) { return value; }, {a},
        [=](const std::vector<Tensor>& xs, const Tensor&, const Tensor& g) {
            const Qr of = qr(xs[0]);
            if (tall) return std::vector<Tensor>{is_q ? behind_q(of, g) : behind_r(of, g)};
            return std::vector<Tensor>{is_q ? behind_wide_q(xs[0], of, g)
                                            : behind_wide_r(xs[0], of, g)};
        });
}

}  // namespace

Qr qr(const Operand& a) {
    LineScope at(a.line());
    Matrices matrix = as_matrices("qr", a);
    const Size rows = matrix.rows, columns = matrix.columns;
    const bool tall = (rows - columns).lower_bound() >= 0,
               wide = (columns - rows).lower_bound() >= 0;
    Qr out = qr_of(matrix.values);
    if (tall || wide)  // else the gradient goes through the steps
        out = {ruled(out.q, matrix.values, tall, true), ruled(out.r, matrix.values, tall, false)};
    return {with_batch(out.q, matrix.batch), with_batch(out.r, matrix.batch)};
}

}  // namespace firn
