// Moving one axis to the end and back.
#include "compiler/algorithms/rows.h"

#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/movement.h"

namespace firn {

Rows rows_along(const char* what, const Tensor& x, std::optional<int> axis) {
    Shape shape = x.shape();
    if (!axis) return {reshape(x, {1, element_count(shape)}), element_count(shape), {}, 0, true};
    Rows out;
    out.axis = checked_axis(what, *axis, shape);
    out.n = shape[static_cast<size_t>(out.axis)];
    std::vector<int> order;
    for (int k = 0; k < static_cast<int>(shape.size()); ++k) {
        if (k == out.axis) continue;
        order.push_back(k);
        out.others.push_back(shape[static_cast<size_t>(k)]);
    }
    order.push_back(out.axis);
    out.values = reshape(permute(x, order), {element_count(out.others), out.n});
    return out;
}

Tensor from_rows(const Tensor& values, const Rows& rows) {
    if (rows.flattened) return reshape(values, {-1});
    Shape shape = rows.others;
    shape.push_back(values.shape()[1]);
    std::vector<int> back;
    for (int k = 0; k < static_cast<int>(shape.size()); ++k)
        back.push_back(k < rows.axis    ? k
                       : k == rows.axis ? static_cast<int>(shape.size()) - 1
                                        : k - 1);
    return permute(reshape(values, shape), back);
}

}  // namespace firn
