// Convolves by reading one vector, with zeros around it, at the places of the other.
#include "compiler/algorithms/convolve.h"

#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reader.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

void check(const char* what, const Tensor& a, const Tensor& v) {
    if (a.rank() != 1 || v.rank() != 1 || a.shape()[0].is(0) || v.shape()[0].is(0))
        refuse(std::string(what) + ": a is " + text(a.shape()) + " and v is " + text(v.shape()) +
               "; both have one axis with elements");
}

/// The first element of the result in the full convolution, and the number of elements.
struct Part {
    Tensor first;
    Size count;
};
Part part_of(ConvolveMode mode, const Size& n, const Size& m, bool mirrored) {
    const Size shorter = min(n, m), longer = max(n, m);
    if (mode == ConvolveMode::Full) return {0, n + m - Size(1)};
    if (mode == ConvolveMode::Valid) return {shorter - Size(1), longer - shorter + Size(1)};
    // numpy mirrors the result of a correlation with a longer v, which also swaps the two middles
    // of an even length.
    Tensor first = floor_div(shorter - Size(1), 2), half = floor_div(n, 2);
    return {mirrored ? select(Tensor(n) < Tensor(m), half, first) : first, longer};
}

/// sum over j of a[first + k - j] v[j].
Tensor sums(const Tensor& a, const Tensor& v, const Part& part) {
    const Size n = a.size(0), m = v.size(0);
    if (n.is_constant() && m.is_constant() && n.constant() < m.constant()) return sums(v, a, part);
    const Tensor k = unsqueeze(arange(part.count) + part.first, 1), j = arange(m);
    return sum(zero(a)(k - j) * v, {.axis = 1});
}

}  // namespace

Tensor convolve(const Operand& a, const Operand& v, ConvolveMode mode) {
    LineScope at(a.line());
    const Tensor x = a.tensor(), y = v.tensor();
    check("convolve", x, y);
    return sums(x, y, part_of(mode, x.size(0), y.size(0), false));
}

Tensor correlate(const Operand& a, const Operand& v, ConvolveMode mode) {
    LineScope at(a.line());
    const Tensor x = a.tensor(), y = v.tensor();
    check("correlate", x, y);
    return sums(x, flip(y), part_of(mode, x.size(0), y.size(0), true));
}

}  // namespace firn
