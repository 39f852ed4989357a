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

Tensor condition(const char* what, const Tensor& x, const Tensor& chosen) {
    Shape shape = x.shape(), mask = chosen.shape();
    if (mask.size() != 1 || shape.empty() ||
        ((mask[0] - shape[0]).is_constant() && !(mask[0] == shape[0])))
        refuse(std::string(what) + ": x is " + text(shape) + " and the condition is " + text(mask) +
               "; it has one axis, the first of x");
    return chosen.as(boolean);
}

/// Every element's indices, [elements, rank].
Tensor all_indices(const char* what, const Tensor& x) {
    Shape shape = x.shape();
    if (shape.empty())
        refuse(std::string(what) + ": x is a scalar and has no indices; reshape it to {1}");
    std::vector<Tensor> axes;
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
        axes.push_back(index(shape, axis));
    return reshape(stack(axes, {.axis = -1}), {-1, shape.size()});
}

}  // namespace

Tensor compact(const Operand& x, const Operand& chosen, const CompactOptions& options) {
    LineScope at(x.line());
    Tensor holds = condition("compact", x.tensor(), chosen.tensor()), count = sum(holds);
    Size most = holds.size(0);
    if (options.at_most) {
        count = min(count, Tensor(*options.at_most));
        most = min(most, *options.at_most);
    }
    Shape shape = x.tensor().shape();
    shape[0] = device_size(count, most);
    Tensor values = zeros(shape, x.tensor().dtype());
    store(values(places(holds)), x, {.permutation = true});
    return values;
}

Compacted compact_padded(const Operand& x, const Operand& chosen) {
    LineScope at(x.line());
    Tensor holds = condition("compact_padded", x.tensor(), chosen.tensor());
    Tensor values = zeros(x.tensor().shape(), x.tensor().dtype());
    store(values(places(holds)), x, {.unique = true});
    return {values, sum(holds)};
}

Tensor nonzero(const Operand& x, const CompactOptions& options) {
    LineScope at(x.line());
    return compact(all_indices("nonzero", x.tensor()), reshape(x, {-1}), options);
}

Compacted nonzero_padded(const Operand& x) {
    LineScope at(x.line());
    return compact_padded(all_indices("nonzero_padded", x.tensor()), reshape(x, {-1}));
}

}  // namespace firn
