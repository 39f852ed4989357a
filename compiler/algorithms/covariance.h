// Weighted means, covariances and correlations.
#pragma once
#include "compiler/frontend/reduce.h"

namespace firn {

/// sum(weights x) / sum(weights), as numpy's average. The weights have x's shape, or one axis, of
/// the size of the one axis in the options, else UserError. nan or infinite where they add up to 0.
/// Integers and bools give f32, f16 and bf16 are computed in f32; a nan makes its average nan.
///
/// Examples: `average(tensor({1.0f, 3.0f}), tensor({3.0f, 1.0f}))` is `1.5`,
/// `average(tensor({1, 2, 3, 4}, {2, 2}), tensor({1, 3}), {.axis = 0})` is `{2.5, 3.5}`.
Tensor average(const Operand& x, const Operand& weights, const ReduceOptions& options = {});
/// The mean.
///
/// Example: `average(tensor({1, 2, 6}))` is `3`.
inline Tensor average(const Operand& x, const ReduceOptions& options = {}) {
    return mean(x, options);
}

/// The axis of the variables, and the divisor of sums of products.
struct CovarianceOptions {
    [[no_unique_address]] ByName by_name = {};
    /// Each row is a variable and each column an observation; false: transposed.
    bool row_var = true;
    /// Sums are divided by the number of observations less this (numpy's ddof).
    int correction = 1;
};
/// The covariances of all pairs of variables, [variables, variables], as numpy's cov; x is
/// [variables, observations], or [observations], which gives one number. Types and nan are as for
/// average; nan or infinite where there are no more observations than the correction.
///
/// Examples: `cov(tensor({1, 2, 3, 2, 4, 6}, {2, 3}))` is `{{1, 2}, {2, 4}}`,
/// `cov(tensor({1, 2, 3}))` is `1`.
Tensor cov(const Operand& x, const CovarianceOptions& options = {});
/// The same of the variables of x followed by those of y.
///
/// Example: `cov(tensor({1, 2, 3}), tensor({2, 4, 6}))` is `{{1, 2}, {2, 4}}`.
Tensor cov(const Operand& x, const Operand& y, const CovarianceOptions& options = {});
/// Pearson's correlations, from -1 to 1: the covariances over the deviations of both; nan for a
/// variable that does not vary. x, y and types are as for cov.
///
/// Examples: `corrcoef(tensor({1, 2, 3}), tensor({3, 2, 1}))` is `{{1, -1}, {-1, 1}}`,
/// `corrcoef(tensor({1, 2, 3, 5, 5, 5}, {2, 3}))` is `{{1, nan}, {nan, nan}}`.
/// @{
Tensor corrcoef(const Operand& x, const CovarianceOptions& options = {});
Tensor corrcoef(const Operand& x, const Operand& y, const CovarianceOptions& options = {});
/// @}

}  // namespace firn
