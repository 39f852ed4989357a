// Means of neighbours times their distances.
#include "compiler/algorithms/integral.h"

#include "compiler/algorithms/differences.h"
#include "compiler/algorithms/real.h"
#include "compiler/algorithms/scan.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/reduce.h"

namespace firn {
namespace {

/// The areas between neighbours along `axis`.
Tensor areas(const char* what, const Tensor& y, int axis, const TrapezoidOptions& options) {
    const Size left = y.size(axis) - Size(1);
    const Tensor i = arange(left.lower_bound() < 0 ? max(left, Size(0)) : left);
    Tensor mean = (take(y, i + 1, {.axis = axis}) + take(y, i, {.axis = axis})) * 0.5f;
    if (!options.x) return mean * options.dx.as(y.dtype());
    const Tensor x = options.x->as(y.dtype());
    const Size points = x.rank() == 1 ? x.size(0) : x.rank() == y.rank() ? x.size(axis) : Size(-1);
    if (points.is(-1) || ((points - y.size(axis)).is_constant() && !(points == y.size(axis))))
        refuse(std::string(what) + ": y is " + text(y.shape()) + " and x is " + text(x.shape()) +
               "; give as many coordinates as axis " + std::to_string(axis) +
               " has elements, or y's shape");
    if (x.rank() == y.rank()) return mean * diff(x, {.axis = axis});
    Shape along(static_cast<size_t>(y.rank()), Size(1));
    along[static_cast<size_t>(axis)] = i.size(0);
    return mean * reshape(diff(x), along);
}

}  // namespace

Tensor trapz(const Operand& y, const TrapezoidOptions& options) {
    LineScope at(y.line());
    const Tensor own = y.tensor();
    const int axis = checked_axis("trapz", options.axis, own.shape());
    return sum(areas("trapz", as_wide(own), axis, options), {.axis = axis})
        .as(real_type(own.dtype()));
}

Tensor cumulative_trapezoid(const Operand& y, const TrapezoidOptions& options) {
    LineScope at(y.line());
    const Tensor own = y.tensor();
    const int axis = checked_axis("cumulative_trapezoid", options.axis, own.shape());
    return cumsum(areas("cumulative_trapezoid", as_wide(own), axis, options), {.axis = axis})
        .as(real_type(own.dtype()));
}

}  // namespace firn
