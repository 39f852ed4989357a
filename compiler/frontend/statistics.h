// Spread, length and soft maxima over axes: compositions of reductions.
#pragma once
#include "compiler/frontend/reduce.h"

namespace firn {

// Integers and bools become f32; f16 and bf16 are computed in f32. A nan makes its result nan.

struct VarianceOptions {
    [[no_unique_address]] ByName by_name = {};
    Axes axis = {};          // none: all
    bool keep_dims = false;  // reduced axes stay with size 1
    int correction = 0;      // the sum is divided by the count less this (numpy's ddof)
};
/// The mean squared distance from the mean, by two passes.
Tensor var(const Operand& x, const VarianceOptions& options = {});
/// Its square root: numpy's std, a name that C++ has taken.
Tensor stddev(const Operand& x, const VarianceOptions& options = {});
inline Tensor var(const Operand& x, const AxisList& axes) { return var(x, {.axis = axes.values}); }
inline Tensor stddev(const Operand& x, const AxisList& axes) {
    return stddev(x, {.axis = axes.values});
}

struct NormOptions {
    [[no_unique_address]] ByName by_name = {};
    Axes axis = {};
    bool keep_dims = false;
    double order = 2;  // 1: sum of magnitudes, 0: count of what is not 0, infinity: the largest
};
/// The length of vectors: the sum of |x|^order to the power 1 / order. Not scaled: squares beyond
/// the type's range are infinite.
Tensor norm(const Operand& x, const NormOptions& options = {});
inline Tensor norm(const Operand& x, const AxisList& axes) {
    return norm(x, {.axis = axes.values});
}

/// log(sum(exp(x))) without overflow on the way.
Tensor logsumexp(const Operand& x, const ReduceOptions& options = {});
inline Tensor logsumexp(const Operand& x, const AxisList& axes) {
    return logsumexp(x, {.axis = axes.values});
}

struct SoftmaxOptions {
    int axis = -1;
};
/// exp(x) / sum(exp(x)) along an axis, without overflow on the way.
Tensor softmax(const Operand& x, const SoftmaxOptions& options = {});
/// Its logarithm, x - logsumexp(x), which does not underflow.
Tensor log_softmax(const Operand& x, const SoftmaxOptions& options = {});

}  // namespace firn
