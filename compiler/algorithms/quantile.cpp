// Rows are sorted, and read where the quantile lies.
#include "compiler/algorithms/quantile.h"

#include <cmath>

#include "compiler/algorithms/real.h"
#include "compiler/algorithms/rows.h"
#include "compiler/algorithms/sort.h"
#include "compiler/frontend/create.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"

namespace firn {
namespace {

/// Sorted rows, and the shape of the result.
struct SortedRows {
    Tensor values, has_nan;  // [rows, n], [rows]
    Size n;
    Shape reduced;
    DType type;
};

SortedRows sorted_rows(const char* what, const Tensor& x, const QuantileOptions& options) {
    Rows rows = rows_along(what, as_wide(x), options.axis);
    SortedRows out{sort(rows.values, {.axis = 1}), Tensor(), rows.n, rows.others,
                   real_type(x.dtype())};
    out.has_nan = any(is_nan(rows.values), {.axis = 1}) | (Tensor(rows.n) == 0);
    if (options.keep_dims && rows.flattened)
        out.reduced = Shape(x.shape().size(), Size(1));
    else if (options.keep_dims)
        out.reduced.insert(out.reduced.begin() + rows.axis, Size(1));
    return out;
}

/// `share` is q or percent / 100: any shape, in the type of the rows.
Tensor at_share(const SortedRows& rows, const Tensor& share) {
    const Tensor q = reshape(share, {-1, 1}), row = arange(element_count(rows.reduced));
    Tensor position = q * Tensor(rows.n - Size(1)).as(q.dtype()), before = floor(position);
    const Tensor t = position - before, place = before.as(i32), &values = rows.values;
    const Tensor a = values(row, place), b = values(row, place + 1), between = b - a;
    // Interpolates from the nearer end, so that both ends are exact.
    Tensor out = select(t < 0.5f, a + between * t, b - between * (1.0f - t));
    out = select(rows.has_nan, std::nanf(""), select((t == 0.0f) | (a == b), a, out));
    Shape shape = share.shape();
    shape.insert(shape.end(), rows.reduced.begin(), rows.reduced.end());
    return reshape(out, shape).as(rows.type);
}

Tensor quantile_of(const char* what, const Operand& x, const Arg& q, double whole,
                   const QuantileOptions& options) {
    if (q.is_scalar()) {
        const double value = q.scalar().as_double();
        if (!(value >= 0 && value <= whole))
            refuse(std::string(what) + ": q is " + std::to_string(value) + "; give 0 to " +
                   std::to_string(static_cast<int>(whole)));
    }
    const SortedRows rows = sorted_rows(what, x.tensor(), options);
    const DType type = rows.values.dtype();
    Tensor share = Tensor::from_node(q.node(type)).as(type);
    if (whole != 1) share = share / whole;
    return at_share(rows, q.is_scalar() ? share : clamp(share, 0.0f, 1.0f));
}

}  // namespace

Tensor quantile(const Operand& x, const Arg& q, const QuantileOptions& options) {
    LineScope at(x.line());
    return quantile_of("quantile", x, q, 1, options);
}

Tensor percentile(const Operand& x, const Arg& q, const QuantileOptions& options) {
    LineScope at(x.line());
    return quantile_of("percentile", x, q, 100, options);
}

Tensor median(const Operand& x, const QuantileOptions& options) {
    LineScope at(x.line());
    const SortedRows rows = sorted_rows("median", x.tensor(), options);
    const Tensor row = arange(element_count(rows.reduced)), &values = rows.values;
    const Tensor a = values(row, floor_div(rows.n - Size(1), 2)),
                 b = values(row, floor_div(rows.n, 2));
    Tensor out = select(a == b, a, (a + b) / 2.0f);
    return reshape(select(rows.has_nan, std::nanf(""), out), rows.reduced).as(rows.type);
}

Tensor ptp(const Operand& x, const ReduceOptions& options) {
    LineScope at(x.line());
    const Tensor values = x.tensor();
    const Tensor wide = values.dtype().is_bool() ? values.as(i32) : values;
    Tensor out = max(wide, options) - min(wide, options);
    if (!wide.dtype().is_float()) return out;
    return select(any(is_nan(wide), options), std::nanf(""), out);
}

}  // namespace firn
