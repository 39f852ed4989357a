// Views one axis of a tensor as the last of two, for algorithms along an axis; internal.
#pragma once
#include <optional>

#include "compiler/frontend/tensor.h"

namespace firn {

/// x with its axis last and all others merged into rows, and the way back.
struct Rows {
    Tensor values;  // [rows, n]
    Size n;         // the axis
    Shape others;   // sizes of the other axes
    int axis = 0;   // where it was
    bool flattened = false;
};

/// `axis`: none flattens x. `what` names the function in the UserError if there is no such axis.
Rows rows_along(const char* what, const Tensor& x, std::optional<int> axis);
/// [rows, m] for any m, with the axis back where it was; flattened it stays.
Tensor from_rows(const Tensor& values, const Rows& rows);

}  // namespace firn
