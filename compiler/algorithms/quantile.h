// Order statistics: quantiles, the median, and the distance of the extrema.
#pragma once
#include "compiler/frontend/reduce.h"

namespace firn {

/// The axes of a quantile.
struct QuantileOptions {
    [[no_unique_address]] ByName by_name = {};
    std::optional<int> axis = std::nullopt;  ///< none: over all elements
    bool keep_dims = false;                  ///< the axis stays with size 1
};

/// Returns the value below which the part q, from 0 to 1, of the elements lies, by linear
/// interpolation between the two next to position q (n - 1), as numpy's quantile. q is a number or
/// a tensor, whose axes come first in the result. At an integer position it is that element, even
/// beside an infinite one. UserError if a number is outside 0 .. 1; elements of a tensor are
/// clamped.
///
/// Rows are sorted. Integers and bools give f32, f16 and bf16 are computed in f32. A nan makes its
/// row nan, and a row without elements is nan, as in numpy.
///
/// Examples: `quantile(tensor({4, 1, 3, 2}), 0.25f)` is `1.75`,
/// `quantile(tensor({4, 1, 3, 2}), tensor({0.5f, 1.0f}))` is `{2.5, 4}`.
Tensor quantile(const Operand& x, const Arg& q, const QuantileOptions& options = {});
/// The same with q in percent, from 0 to 100.
///
/// Example: `percentile(tensor({4, 1, 3, 2}), 25)` is `1.75`.
Tensor percentile(const Operand& x, const Arg& q, const QuantileOptions& options = {});
/// The element in the middle, or the mean of the two there; types and nan are as for quantile.
///
/// Examples: `median(tensor({3, 1, 2, 9, 7, 8}, {2, 3}), {.axis = 1})` is `{2, 8}`,
/// `median(tensor({1.0f, NAN}))` is `nan`.
Tensor median(const Operand& x, const QuantileOptions& options = {});
/// The largest less the smallest element, in their type: numpy's "peak to peak". nan where one is
/// nan; bools give i32.
///
/// Example: `ptp(tensor({3, 1, 7}))` is `6`.
Tensor ptp(const Operand& x, const ReduceOptions& options = {});

}  // namespace firn
