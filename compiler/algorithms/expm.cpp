// The exponential of a matrix.
#include <limits>

#include "compiler/algorithms/linear_algebra.h"
#include "compiler/algorithms/matmul.h"
#include "compiler/algorithms/matrices.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

/// Returns Pade's approximant of degree 7, good for matrices with column sums of at most `radius`.
Tensor pade(const Tensor& a) {
    const Tensor one = eye(a.size(1), a.size(2), a.dtype());
    const Tensor a2 = matmul(a, a), a4 = matmul(a2, a2), a6 = matmul(a4, a2);
    const Tensor odd = matmul(a, a6 + 1512 * a4 + 277200 * a2 + 8648640 * one);
    const Tensor even = 56 * a6 + 25200 * a4 + 1995840 * a2 + 17297280 * one;
    return solve(even - odd, even + odd);
}

Tensor expm_of(const Tensor& a) {
    // Up to this norm the approximant is the exact exponential of a matrix that differs by the
    // rounding of the type: Higham, table 2.3 and the text behind it.
    const double radius = a.dtype() == f64 ? 0.9504178996162932 : 3.925724783138660;
    const Tensor norm = max(sum(abs(a), {1}), {.axis = 1});  // [batch]
    const Tensor halvings = select(norm < std::numeric_limits<double>::infinity(),
                                   max(ceil(log2(norm / radius)), 0), 0);
    Tensor out = pade(a * reshape(exp2(-halvings), {a.size(0), 1, 1}));
    const Tensor squarings = reshape(halvings.as(i32), {a.size(0), 1, 1});
    for (Tensor k : loop(max(squarings))) out = select(k < squarings, matmul(out, out), out);
    return out;
}

}  // namespace

Tensor expm(const Operand& a) {
    LineScope at(a.line());
    const Matrices matrix = as_square_matrices("expm", a);
    const Size n = matrix.rows;
    if (n.is(0) || matrix.values.size(0).is(0)) return with_batch(matrix.values, matrix.batch);
    // The derivative: the exponential of a block matrix contains the change along g (R. Mathias, "A
    // Chain Rule for Matrix Functions and Applications", 1996).
    const Tensor out = custom_gradient(
        [](const std::vector<Tensor>& xs) { return expm_of(xs[0]); }, {matrix.values},
        [n](const std::vector<Tensor>& xs, const Tensor&, const Tensor& g) {
            const Tensor m = transpose(xs[0], 1, 2);
            const Tensor blocks = concat({concat({m, g}, {.axis = 2}),
                                          concat({zeros(m.shape(), m.dtype()), m}, {.axis = 2})},
                                         {.axis = 1});
            const Tensor whole = expm(blocks);
            return std::vector<Tensor>{
                slice(slice(whole, {.axis = 1, .end = n}), {.axis = 2, .begin = n})};
        });
    return with_batch(out, matrix.batch);
}

}  // namespace firn
