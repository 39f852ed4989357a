// Reductions that skip nan.
#pragma once
#include "compiler/frontend/statistics.h"

namespace firn {

/// The sum of the elements that are numbers, 0 where there is none; options and types are those of
/// sum. Other types than floats have no nan.
///
/// Example: `nansum(tensor({1.0f, NAN, 2.0f}))` is `3`.
Tensor nansum(const Operand& x, const ReduceOptions& options = {});
/// The mean of the elements that are numbers, nan where there is none; types are those of mean.
///
/// Example: `nanmean(tensor({1.0f, NAN, 4.0f}))` is `2.5`.
Tensor nanmean(const Operand& x, const ReduceOptions& options = {});
/// The smallest of the elements that are numbers, nan where there is none, in x's type.
///
/// Example: `nanmin(tensor({2.0f, NAN, NAN, NAN}, {2, 2}), {.axis = 1})` is `{2, nan}`.
Tensor nanmin(const Operand& x, const ReduceOptions& options = {});
/// The largest of the elements that are numbers, nan where there is none, in x's type.
///
/// Example: `nanmax(tensor({2.0f, NAN, 3.0f}))` is `3`.
Tensor nanmax(const Operand& x, const ReduceOptions& options = {});
/// The variance of the elements that are numbers, with the types of var; nan where no more numbers
/// are left than `correction` says.
///
/// Examples: `nanvar(tensor({1.0f, NAN, 3.0f}))` is `1`,
/// `nanvar(tensor({1.0f, NAN, 3.0f}), {.correction = 2})` is `nan`.
Tensor nanvar(const Operand& x, const VarianceOptions& options = {});
/// The square root of nanvar.
///
/// Example: `nanstd(tensor({1.0f, NAN, 5.0f}))` is `2`.
Tensor nanstd(const Operand& x, const VarianceOptions& options = {});

/// The same over the axes in braces.
///
/// Example: `nansum(tensor({1.0f, NAN, 2.0f, 3.0f}, {2, 2}), {0})` is `{3, 3}`.
/// @{
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
/// @}

}  // namespace firn
