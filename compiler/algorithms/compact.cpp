// A running count of what is chosen says where it goes.
#include "compiler/algorithms/compact.h"

#include "compiler/algorithms/scan.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/reduce.h"
#include "compiler/frontend/scatter.h"

namespace firn {
namespace {

/// Where each chosen element goes; a place outside for the others, for each its own.
Tensor places(const Tensor& chosen) {
    Size n = chosen.size(0);
    return select(chosen, cumsum(chosen, {.axis = 0, .exclusive = true}), n + arange(n));
}

}  // namespace

Compacted compact(const Operand& x, const Operand& chosen) {
    LineScope at(x.line());
    Shape shape = x.tensor().shape(), mask = chosen.tensor().shape();
    if (mask.size() != 1 || shape.empty() ||
        ((mask[0] - shape[0]).is_constant() && !(mask[0] == shape[0])))
        refuse("compact: x is " + text(shape) + " and the condition is " + text(mask) +
               "; it has one axis, the first of x");
    Tensor holds = chosen.tensor().as(boolean), values = zeros(shape, x.tensor().dtype());
    store(values(places(holds)), x, {.unique = true});
    return {values, sum(holds)};
}

Compacted nonzero(const Operand& x) {
    LineScope at(x.line());
    Shape shape = x.tensor().shape();
    if (shape.empty()) refuse("nonzero: x is a scalar and has no indices; reshape it to {1}");
    std::vector<Tensor> axes;
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
        axes.push_back(index(shape, axis));
    Tensor indices = reshape(stack(axes, {.axis = -1}), {-1, shape.size()});
    return compact(indices, reshape(x, {-1}));
}

}  // namespace firn
