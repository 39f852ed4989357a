// Eigenvalues of symmetric matrices.
#include "compiler/algorithms/linear_algebra.h"
#include "compiler/algorithms/matmul.h"
#include "compiler/algorithms/matrices.h"
#include "compiler/algorithms/rotations.h"
#include "compiler/algorithms/sort.h"
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

// Values and vectors as one tensor [batch, n + 1, n], the values in the last row: a gradient's rule
// has one result.

Tensor packed_eigh(const Tensor& a) {
    const Size n = a.size(1);
    Tensor m = a, v = expand(eye(n, n, a.dtype()), a.shape());
    const auto [b, i, j] = indices<3>(a.shape());
    const auto [batch, k] = indices<2>(Shape{a.size(0), n});
    const Tensor largest = unsqueeze(max(abs(a), {.axis = {1, 2}}), 1);
    const Tensor tolerance = largest * epsilon_of(a.dtype());
    jacobi_sweeps(k.shape(), [&](const Tensor& round) {
        const Tensor partner = rotation_partner(k, round, n);
        const Tensor low = min(k, partner), high = max(k, partner);
        const auto at = [&](const Tensor& row, const Tensor& column) {
            return unchecked(m)(batch, row, column);
        };
        const Rotation r = jacobi_rotation({.first = at(low, low),
                                            .last = at(high, high),
                                            .between = at(low, high),
                                            .tolerance = tolerance,
                                            .is_low = k < partner,
                                            .alone = k == partner});
        const Tensor p = unchecked(partner)(b, i), q = unchecked(partner)(b, j);
        const Tensor row_own = unchecked(r.own)(b, i), row_other = unchecked(r.other)(b, i);
        const Tensor own = unchecked(r.own)(b, j), other = unchecked(r.other)(b, j);
        const auto turned_row = [&](const Tensor& row) {
            return own * unchecked(m)(b, row, j) + other * unchecked(m)(b, row, q);
        };
        m = row_own * turned_row(i) + row_other * turned_row(p);
        v = own * v + other * unchecked(v)(b, i, q);
        return r.turns;
    });
    const Tensor values = diagonal(m), order = argsort(values);
    return concat({gather(v, unsqueeze(order, 1), {.axis = 2}),
                   unsqueeze(gather(values, order, {.axis = 1}), 1)},
                  {.axis = 1});
}

/// M. Giles, "Collected Matrix Derivative Results for Forward and Reverse Mode Algorithmic
/// Differentiation", 2008, section 3.1.
Tensor behind_eigh(const Tensor& out, const Tensor& g) {
    const Size n = out.size(2);
    const Tensor v = slice(out, {.axis = 1, .end = n}), w = slice(out, {.axis = 1, .begin = n});
    const Tensor by_v = slice(g, {.axis = 1, .end = n}), by_w = slice(g, {.axis = 1, .begin = n});
    const Tensor gap = w - transpose(w, 1, 2);
    const Tensor inner = select(gap == 0, 0, matmul(transpose(v, 1, 2), by_v) / gap) +
                         select(index(v, 1) == index(v, 2), by_w, 0);
    const Tensor whole = matmul(matmul(v, inner), transpose(v, 1, 2));
    return (whole + transpose(whole, 1, 2)) / 2;
}

}  // namespace

Eigh eigh(const Operand& a) {
    LineScope at(a.line());
    const Matrices matrix = as_square_matrices("eigh", a);
    const Tensor m = matrix.values;
    if (matrix.rows.is(0))
        return {with_batch(diagonal(m), matrix.batch), with_batch(m, matrix.batch)};
    const Tensor i = index(m, 1), j = index(m, 2);
    const Tensor packed =
        custom_gradient([](const std::vector<Tensor>& xs) { return packed_eigh(xs[0]); },
                        {select(i >= j, m, transpose(m, 1, 2))},
                        [](const std::vector<Tensor>&, const Tensor& out, const Tensor& g) {
                            return std::vector<Tensor>{behind_eigh(out, g)};
                        });
    const Tensor values = squeeze(slice(packed, {.axis = 1, .begin = matrix.rows}), {1});
    return {with_batch(values, matrix.batch),
            with_batch(slice(packed, {.axis = 1, .end = matrix.rows}), matrix.batch)};
}

}  // namespace firn
