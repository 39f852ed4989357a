// Each axis is read at indices that lead back inside.
#include "compiler/algorithms/border.h"

#include "compiler/frontend/create.h"
#include "compiler/frontend/indexing.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"

namespace firn {
namespace {

/// Returns the place of the element for index `i`, which may be outside of 0 .. n - 1.
Tensor inside(PadMode mode, const Tensor& i, const Size& n) {
    if (mode == PadMode::Edge) return i;  // reading clamps
    if (mode == PadMode::Wrap) return remainder(i, n);
    const bool twice = mode == PadMode::Symmetric;
    const Size period = twice ? n * Size(2) : n * Size(2) - Size(2);
    const Tensor place = remainder(i, period), last = period - Size(twice ? 1 : 0);
    return select(place < n, place, last - place);
}

}  // namespace

Tensor pad(const Operand& x, PadMode mode, const PadWidths& widths) {
    LineScope at(x.line());
    Tensor out = x.tensor();
    const Shape shape = out.shape();
    std::vector<Size> before = widths.before, after = widths.after;
    const size_t given = before.size() > after.size() ? before.size() : after.size();
    if (given > shape.size())
        refuse("pad: " + std::to_string(given) + " widths are given for shape " + text(shape) +
               "; give one per axis");
    before.resize(shape.size(), Size(0));
    after.resize(shape.size(), Size(0));
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        const Size &n = shape[axis], count = before[axis] + n + after[axis];
        if (before[axis].is(0) && after[axis].is(0)) continue;
        if (n.is(0) || before[axis].upper_bound() < 0 || after[axis].upper_bound() < 0)
            refuse("pad: axis " + std::to_string(axis) + " of shape " + text(shape) + " gets " +
                   before[axis].text() + " before and " + after[axis].text() +
                   " behind; widths are 0 or more, and an axis that is padded has elements");
        const Tensor i = arange(count) - before[axis];
        out = take(out, inside(mode, i, n), {.axis = static_cast<int>(axis)});
    }
    return out;
}

}  // namespace firn
