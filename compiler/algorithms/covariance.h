// Weighted means, covariances and correlations.
#pragma once
#include "compiler/frontend/reduce.h"

namespace firn {

// Integers and bools give f32, f16 and bf16 are computed in f32; a nan makes what it is part of
// nan.

/// sum(weights x) / sum(weights), as numpy's average. The weights have x's shape, or one axis, of
/// the size of the one axis in the options. nan or infinite where they add up to 0.
Tensor average(const Operand& x, const Operand& weights, const ReduceOptions& options = {});
inline Tensor average(const Operand& x, const ReduceOptions& options = {}) {
    return mean(x, options);
}

struct CovarianceOptions {
    [[no_unique_address]] ByName by_name = {};
    bool row_var =
        true;            // each row is a variable and each column an observation; false: transposed
    int correction = 1;  // sums are divided by the number of observations less this (numpy's ddof)
};
/// The covariances of all pairs of variables, [variables, variables], as numpy's cov; x is
/// [variables, observations], or [observations], which gives one number.
Tensor cov(const Operand& x, const CovarianceOptions& options = {});
/// The same of the variables of x followed by those of y.
Tensor cov(const Operand& x, const Operand& y, const CovarianceOptions& options = {});
/// Pearson's correlations, -1 .. 1: the covariances over the deviations of both; nan for a variable
/// that does not vary.
Tensor corrcoef(const Operand& x, const CovarianceOptions& options = {});
Tensor corrcoef(const Operand& x, const Operand& y, const CovarianceOptions& options = {});

}  // namespace firn
