// Reductions that pass over what is not a number.
#pragma once
#include "compiler/frontend/statistics.h"

namespace firn {

// As sum, mean, min, max, var and stddev of the elements that are numbers; types are theirs. Where
// there is none, the sum is 0 and all others are nan. Other types than floats have no nan.
Tensor nansum(const Operand& x, const ReduceOptions& options = {});
Tensor nanmean(const Operand& x, const ReduceOptions& options = {});
Tensor nanmin(const Operand& x, const ReduceOptions& options = {});
Tensor nanmax(const Operand& x, const ReduceOptions& options = {});
/// nan where no more numbers are left than `correction` says.
Tensor nanvar(const Operand& x, const VarianceOptions& options = {});
Tensor nanstd(const Operand& x, const VarianceOptions& options = {});

// Over the axes in braces.
inline Tensor nansum(const Operand& x, const AxisList& axes) {
    return nansum(x, {.axis = axes.values});
}
inline Tensor nanmean(const Operand& x, const AxisList& axes) {
    return nanmean(x, {.axis = axes.values});
}
inline Tensor nanmin(const Operand& x, const AxisList& axes) {
    return nanmin(x, {.axis = axes.values});
}
inline Tensor nanmax(const Operand& x, const AxisList& axes) {
    return nanmax(x, {.axis = axes.values});
}
inline Tensor nanvar(const Operand& x, const AxisList& axes) {
    return nanvar(x, {.axis = axes.values});
}
inline Tensor nanstd(const Operand& x, const AxisList& axes) {
    return nanstd(x, {.axis = axes.values});
}

}  // namespace firn
