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
Qr factorised(const Tensor& a) {
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
    for (Tensor turn : loop(steps)) {
        Tensor k = steps - 1 - turn;
        q = reflected(q, unchecked(vectors)(b, k, row), unchecked(betas)(one, k));
    }
    Tensor upper = slice(r, {.axis = 1, .end = steps});
    upper = select(index(upper, 1) <= index(upper, 2), upper, 0);
    return {q, upper};
}

/// Both, one after the other, as one value that has a rule.
Tensor packed(const Qr& both) {
    const auto row = [](const Tensor& x) { return reshape(x, {x.size(0), x.size(1) * x.size(2)}); };
    return concat({row(both.q), row(both.r)}, {.axis = 1});
}

Qr unpacked(const Tensor& row, const Size& rows, const Size& columns) {
    const Size batch = row.size(0), steps = min(rows, columns), first = rows * steps;
    return {reshape(slice(row, {.axis = 1, .end = first}), {batch, rows, steps}),
            reshape(slice(row, {.axis = 1, .begin = first}), {batch, steps, columns})};
}

Tensor turned(const Tensor& x) { return transpose(x, -1, -2); }

/// The cotangent of a = q r with no more columns than rows, from those of q and r: S. Walter, L.
/// Lehmann and R. Lamour, "On evaluating higher-order derivatives of the QR decomposition", 2012.
Tensor behind_qr(const Qr& of, const Qr& g) {
    const Tensor m = matmul(of.r, turned(g.r)) - matmul(turned(g.q), of.q);
    const Tensor i = index(m, 1), j = index(m, 2);
    const Tensor below = select(i > j, m, 0);
    const Tensor both = below + turned(below) + select(i == j, m, 0);
    const Tensor right = g.q + matmul(of.q, both);
    return turned(solve_triangular(of.r, turned(right), {.lower = false}));
}

/// The same with more columns than rows: those behind the first square follow from q alone.
Tensor behind_wide_qr(const Tensor& a, const Qr& of, const Qr& g) {
    const Size rows = a.size(1);
    const auto square = [&](const Tensor& x) { return slice(x, {.axis = 2, .end = rows}); };
    const auto rest = [&](const Tensor& x) { return slice(x, {.axis = 2, .begin = rows}); };
    const Qr squares{of.q, square(of.r)};
    const Tensor by_q = g.q + matmul(rest(a), turned(rest(g.r)));
    return concat({behind_qr(squares, {by_q, square(g.r)}), matmul(of.q, rest(g.r))}, {.axis = 2});
}

}  // namespace

Qr qr(const Operand& a) {
    LineScope at(a.line());
    Matrices matrix = as_matrices("qr", a);
    const Size rows = matrix.rows, columns = matrix.columns;
    const bool tall = (rows - columns).lower_bound() >= 0,
               wide = (columns - rows).lower_bound() >= 0;
    Qr out;
    if (tall || wide) {
        const Tensor row = custom_gradient(
            [](const std::vector<Tensor>& xs) { return packed(factorised(xs[0])); },
            {matrix.values},
            [=](const std::vector<Tensor>& xs, const Tensor& y, const Tensor& g) {
                const Qr of = unpacked(y, rows, columns), by = unpacked(g, rows, columns);
                return std::vector<Tensor>{tall ? behind_qr(of, by)
                                                : behind_wide_qr(xs[0], of, by)};
            });
        out = unpacked(row, rows, columns);
    } else {
        out = factorised(matrix.values);  // backwards by its steps
    }
    return {with_batch(out.q, matrix.batch), with_batch(out.r, matrix.batch)};
}

}  // namespace firn
