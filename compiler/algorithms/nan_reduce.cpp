// Numbers are chosen by select, and counted.
#include "compiler/algorithms/nan_reduce.h"

#include <cmath>

#include "compiler/algorithms/real.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"

namespace firn {
namespace {

Tensor numbers_or_zero(const Tensor& x) {
    return x.dtype().is_float() ? select(is_nan(x), 0, x) : x;
}

/// Counts the numbers, in the type of x.
Tensor count_of_numbers(const Tensor& x, const ReduceOptions& options) {
    return sum(!is_nan(x), options).as(x.dtype());
}

/// Returns the mean of the numbers of a wide x; 0 / 0 if there is none.
Tensor mean_of_numbers(const Tensor& x, const ReduceOptions& options) {
    return sum(numbers_or_zero(x), options) / count_of_numbers(x, options);
}

Tensor variance_of_numbers(const Tensor& x, const VarianceOptions& options) {
    Tensor away = x - mean_of_numbers(x, {.axis = options.axis, .keep_dims = true});
    const ReduceOptions over{.axis = options.axis, .keep_dims = options.keep_dims};
    Tensor freedom = count_of_numbers(x, over) - options.correction;
    // An infinite element is as far from the mean as can be: nan, which must not be passed over.
    Tensor total = sum(select(is_nan(x), 0, away * away), over);
    return select(freedom > 0, total / freedom, std::nanf(""));
}

/// An extremum, which passes over nan by itself, but for where there is nothing else.
Tensor or_nan(const Tensor& extremum, const Tensor& x, const ReduceOptions& options) {
    if (!x.dtype().is_float()) return extremum;
    return select(all(is_nan(x), options), std::nanf(""), extremum);
}

}  // namespace

Tensor nansum(const Operand& x, const ReduceOptions& options) {
    LineScope at(x.line());
    return sum(numbers_or_zero(x.tensor()), options);
}

Tensor nanmean(const Operand& x, const ReduceOptions& options) {
    LineScope at(x.line());
    const Tensor own = x.tensor();
    return mean_of_numbers(as_wide(own), options).as(real_type(own.dtype()));
}

Tensor nanmin(const Operand& x, const ReduceOptions& options) {
    LineScope at(x.line());
    return or_nan(min(x, options), x.tensor(), options);
}

Tensor nanmax(const Operand& x, const ReduceOptions& options) {
    LineScope at(x.line());
    return or_nan(max(x, options), x.tensor(), options);
}

Tensor nanvar(const Operand& x, const VarianceOptions& options) {
    LineScope at(x.line());
    const Tensor own = x.tensor();
    return variance_of_numbers(as_wide(own), options).as(real_type(own.dtype()));
}

Tensor nanstd(const Operand& x, const VarianceOptions& options) {
    LineScope at(x.line());
    const Tensor own = x.tensor();
    return sqrt(variance_of_numbers(as_wide(own), options)).as(real_type(own.dtype()));
}

}  // namespace firn
