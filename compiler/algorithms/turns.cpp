// Flips and transpositions.
#include "compiler/algorithms/turns.h"

#include "compiler/frontend/line_scope.h"

namespace firn {

Tensor roll(const Operand& x, const ShiftList& list, const AxisList& axes) {
    LineScope at(x.line());
    const std::vector<Arg>& shifts = list.values;
    if (shifts.size() != axes.values.size())
        refuse("roll: there are " + std::to_string(shifts.size()) + " shifts and " +
               std::to_string(axes.values.size()) + " axes; give one shift for each axis");
    Tensor out = x.tensor();
    for (size_t k = 0; k < shifts.size(); ++k)
        out = roll(out, shifts[k], AlongOptions{.axis = axes.values[k]});
    return out;
}

Tensor fliplr(const Operand& x) {
    LineScope at(x.line());
    return flip(x, {.axis = checked_axis("fliplr", 1, x.tensor().shape())});
}

Tensor flipud(const Operand& x) {
    LineScope at(x.line());
    return flip(x, {.axis = checked_axis("flipud", 0, x.tensor().shape())});
}

Tensor rot90(const Operand& x, const Rot90Options& options) {
    LineScope at(x.line());
    const Shape shape = x.tensor().shape();
    const int from = checked_axis("rot90", options.from, shape),
              to = checked_axis("rot90", options.to, shape);
    if (from == to)
        refuse("rot90: both axes are axis " + std::to_string(from) + " of shape " + text(shape) +
               "; give two");
    switch (((options.k % 4) + 4) % 4) {
        case 1: return transpose(flip(x, {.axis = to}), from, to);
        case 2: return flip(flip(x, {.axis = from}), {.axis = to});
        case 3: return flip(transpose(x, from, to), {.axis = to});
        default: return x.tensor();
    }
}

}  // namespace firn
