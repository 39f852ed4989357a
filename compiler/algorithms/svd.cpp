// Singular values, and their uses.
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

// u, s and v as one tensor [batch, m + 1 + n, k], s in the row between: a gradient's rule has one
// result.
struct SvdParts {
    Tensor u, s, v;
};
SvdParts svd_parts(const Tensor& packed, const Size& rows) {
    return {slice(packed, {.axis = 1, .end = rows}),
            slice(packed, {.axis = 1, .begin = rows, .end = rows + Size(1)}),
            slice(packed, {.axis = 1, .begin = rows + Size(1)})};
}

/// Orthonormal columns: those of u where they are, others where they are 0.
Tensor completed(const Tensor& u) {
    const Qr factors = qr(u);
    const Tensor sign = select(diagonal(factors.r) < 0, -1, 1);
    return factors.q * unsqueeze(sign.as(u.dtype()), 1);
}

Tensor packed_svd(const Tensor& a) {
    const Size n = a.size(2), least = min(a.size(1), n);
    // Squares of scaled elements neither overflow nor vanish.
    const Tensor largest = max(abs(a), {.axis = {1, 2}, .keep_dims = true});
    const Tensor scale = select(largest > 0, largest, 1);
    Tensor u = a / scale, v = expand(eye(n, n, a.dtype()), {a.size(0), n, n});
    const auto [b, i, j] = indices<3>(u.shape());
    const auto [c, down, across] = indices<3>(v.shape());
    const auto [batch, k] = indices<2>(Shape{a.size(0), n});
    // The rounding error of the product of orthogonal columns.
    const Tensor rounding = sqrt(Tensor(a.size(1)).as(a.dtype())) * epsilon_of(a.dtype());
    jacobi_sweeps(k.shape(), [&](const Tensor& round) {
        const Tensor partner = rotation_partner(k, round, n);
        const Tensor low = min(k, partner), high = max(k, partner);
        const Tensor squares = sum(u * u, {1});
        const Tensor first = unchecked(squares)(batch, low), last = unchecked(squares)(batch, high);
        const Tensor beside = unchecked(u)(b, i, unchecked(partner)(b, j));
        const Rotation r = jacobi_rotation({.first = first,
                                            .last = last,
                                            .between = sum(u * beside, {1}),
                                            .tolerance = rounding * sqrt(first) * sqrt(last),
                                            .is_low = k < partner,
                                            .alone = k == partner});
        u = unsqueeze(r.own, 1) * u + unsqueeze(r.other, 1) * beside;
        v = unsqueeze(r.own, 1) * v +
            unsqueeze(r.other, 1) * unchecked(v)(c, down, unchecked(partner)(c, across));
        return r.turns;
    });
    const Tensor lengths = sqrt(sum(u * u, {1}));
    const Tensor order = slice(argsort(lengths, {.descending = true}), {.axis = 1, .end = least});
    const auto in_order = [&](const Tensor& m) {
        return gather(m, unsqueeze(order, 1), {.axis = 2});
    };
    const Tensor s = unsqueeze(gather(lengths, order, {.axis = 1}), 1);
    const Tensor unit = select(s == 0, 0, in_order(u) / s);
    return concat({completed(unit), s * scale, in_order(v)}, {.axis = 1});
}

/// J. Townsend, "Differentiating the Singular Value Decomposition", 2016.
Tensor behind_svd(const Tensor& packed, const Tensor& cotangent, const Size& rows) {
    const auto transposed = [](const Tensor& x) { return transpose(x, 1, 2); };
    const SvdParts of = svd_parts(packed, rows), g = svd_parts(cotangent, rows);
    const Tensor square = of.s * of.s, gap = square - transposed(square);
    const auto mixed = [&](const Tensor& x, const Tensor& by_x) {
        const Tensor along = matmul(transposed(x), by_x);
        return select(gap == 0, 0, (along - transposed(along)) / gap);
    };
    // The part of the change of u or v that leaves the space of its columns.
    const auto outside = [&](const Tensor& x, const Tensor& by_x) {
        const Tensor scaled = select(of.s == 0, 0, by_x / of.s);
        return scaled - matmul(x, matmul(transposed(x), scaled));
    };
    const Tensor by_s = select(index(gap, 1) == index(gap, 2), g.s, 0);
    const Tensor inner = mixed(of.u, g.u) * of.s + transposed(of.s) * mixed(of.v, g.v) + by_s;
    return matmul(matmul(of.u, inner) + outside(of.u, g.u), transposed(of.v)) +
           matmul(of.u, transposed(outside(of.v, g.v)));
}

/// The singular values that count, of the shape of s.
Tensor counted(const Tensor& s, const Shape& shape, const RankOptions& options) {
    const Size longer = max(shape[shape.size() - 2], shape.back());
    const Tensor largest = slice(s, {.axis = -1, .end = min(Size(1), s.shape().back())});
    return s > (options.tolerance ? largest * *options.tolerance
                                  : largest * Tensor(longer).as(s.dtype()) * epsilon_of(s.dtype()));
}

Tensor pinv_of(const Tensor& a, const RankOptions& options) {
    const Svd of = svd(a);
    const Tensor inverse = select(counted(of.s, a.shape(), options), 1 / of.s, 0);
    return matmul(transpose(of.vt, -1, -2), unsqueeze(inverse, -1) * transpose(of.u, -1, -2));
}

/// G. Golub and V. Pereyra, "The Differentiation of Pseudo-Inverses and Nonlinear Least Squares
/// Problems Whose Variables Separate", 1973, for a constant rank.
Tensor behind_pinv(const Tensor& a, const Tensor& p, const Tensor& g) {
    const auto transposed = [](const Tensor& x) { return transpose(x, -1, -2); };
    const Tensor gt = transposed(g), pt = transposed(p);
    const Tensor left = matmul(gt, matmul(p, pt)), right = matmul(matmul(pt, p), gt);
    return left - matmul(a, matmul(p, left)) + right - matmul(matmul(right, p), a) -
           matmul(pt, matmul(g, pt));
}

}  // namespace

Svd svd(const Operand& a) {
    LineScope at(a.line());
    const Matrices matrix = as_matrices("svd", a);
    if ((matrix.columns - matrix.rows).lower_bound() > 0) {
        const Svd turned = svd(transpose(a.tensor(), -1, -2));
        return {transpose(turned.vt, -1, -2), turned.s, transpose(turned.u, -1, -2)};
    }
    const Size rows = matrix.rows;
    if (matrix.columns.is(0))
        return {with_batch(matrix.values, matrix.batch),
                with_batch(sum(matrix.values, {1}), matrix.batch),
                with_batch(slice(matrix.values, {.axis = 1, .end = 0}), matrix.batch)};
    const Tensor packed = custom_gradient(
        [](const std::vector<Tensor>& xs) { return packed_svd(xs[0]); }, {matrix.values},
        [rows](const std::vector<Tensor>&, const Tensor& out, const Tensor& g) {
            return std::vector<Tensor>{behind_svd(out, g, rows)};
        });
    const SvdParts of = svd_parts(packed, rows);
    return {with_batch(of.u, matrix.batch), with_batch(squeeze(of.s, {1}), matrix.batch),
            with_batch(transpose(of.v, 1, 2), matrix.batch)};
}

Tensor pinv(const Operand& a, const RankOptions& options) {
    LineScope at(a.line());
    const Matrices matrix = as_matrices("pinv", a);
    const Tensor out = custom_gradient(
        [options](const std::vector<Tensor>& xs) { return pinv_of(xs[0], options); },
        {matrix.values},
        [](const std::vector<Tensor>& xs, const Tensor& p, const Tensor& g) {
            return std::vector<Tensor>{behind_pinv(xs[0], p, g)};
        });
    return with_batch(out, matrix.batch);
}

Tensor lstsq(const Operand& a, const Operand& b, const RankOptions& options) {
    LineScope at(a.line());
    as_matrices("lstsq", a);
    check_right_side("lstsq", a.tensor().shape(), b.tensor().shape());
    return matmul(pinv(a, options), b);
}

Tensor matrix_rank(const Operand& a, const RankOptions& options) {
    LineScope at(a.line());
    as_matrices("matrix_rank", a);
    const Tensor s = svd(a).s;
    return sum(counted(s, a.tensor().shape(), options).as(i32), {.axis = -1});
}

}  // namespace firn
