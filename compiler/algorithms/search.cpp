// Bisection, element by element.
#include "compiler/algorithms/search.h"

#include "compiler/algorithms/power_of_two.h"
#include "compiler/algorithms/real.h"
#include "compiler/frontend/apply.h"
#include "compiler/frontend/control.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"

namespace firn {
namespace {

void check_vector(const char* what, const char* which, const Tensor& x) {
    if (x.rank() != 1)
        refuse(std::string(what) + ": " + which + " is " + text(x.shape()) +
               "; it has one axis, reshape it");
}

/// A nan comes behind all numbers.
Tensor comes_before(const Tensor& a, const Tensor& b) {
    return a.dtype().is_float() ? (a < b) | (is_nan(b) & !is_nan(a)) : a < b;
}

/// Counts the elements that come before each value; `right`: or are equal to it.
Tensor count_before(const Tensor& sorted, const Tensor& values, bool right) {
    const Size n = sorted.size(0);
    Tensor low = zeros(values.shape(), i32), high = zeros(values.shape(), i32) + n;
    for (Tensor step : loop(log2_from(n + Size(1)))) {
        Tensor half = (low + high) >> 1, open = low < high, element = sorted(half);
        Tensor before = right ? !comes_before(values, element) : comes_before(element, values);
        low = select(open & before, half + 1, low);
        high = select(open & !before, half, high);
    }
    return low;
}

}  // namespace

Tensor searchsorted(const Operand& sorted, const Operand& values, const SearchOptions& options) {
    LineScope at(sorted.line());
    check_vector("searchsorted", "sorted", sorted.tensor());
    const std::vector<Tensor> in = meet({sorted, values});
    return count_before(in[0], in[1], options.right);
}

Tensor digitize(const Operand& x, const Operand& bins, const SearchOptions& options) {
    LineScope at(x.line());
    check_vector("digitize", "bins", bins.tensor());
    const std::vector<Tensor> in = meet({x, bins});
    const Size n = in[1].size(0);
    const Tensor falls = in[1](0) > in[1](n - Size(1));
    const Tensor rising = select(falls, flip(in[1]), in[1]);
    const Tensor place = count_before(rising, in[0], !options.right);
    return select(falls, n - place, place);
}

Tensor interp(const Operand& x, const Operand& xp, const Operand& fp,
              const InterpOptions& options) {
    LineScope at(x.line());
    check_vector("interp", "xp", xp.tensor());
    check_vector("interp", "fp", fp.tensor());
    const Size n = xp.tensor().size(0), values = fp.tensor().size(0);
    if (((n - values).is_constant() && !(n == values)) || n.is(0))
        refuse("interp: xp has " + n.text() + " points and fp " + values.text() +
               "; give as many of both, 1 or more");
    const std::vector<Tensor> in = meet_as_floats({x, xp, fp});
    const Tensor at_x = as_wide(in[0]), points = as_wide(in[1]), heights = as_wide(in[2]);
    const Tensor place = clamp(count_before(points, at_x, true) - 1, 0, max(n - Size(2), Size(0)));
    const Tensor x0 = points(place), x1 = points(place + 1);
    const Tensor y0 = heights(place), y1 = heights(place + 1);
    const Tensor width = x1 - x0, apart = width != 0;
    const Tensor line = y0 + select(apart, (y1 - y0) / select(apart, width, 1), 0) * (at_x - x0);
    // At a point the value is its height, with the gradient of the line that begins there.
    const Tensor exact = select((at_x == x0) | (y0 == y1), y0, select(at_x == x1, y1, line));
    Tensor out = straight_through(exact, line);
    const Tensor first = points(0), last = points(n - Size(1));
    out = select(at_x < first, options.left ? *options.left : heights(0), out);
    out = select(at_x > last, options.right ? *options.right : heights(n - Size(1)), out);
    return select(is_nan(at_x), at_x, out).as(in[0].dtype());
}

}  // namespace firn
