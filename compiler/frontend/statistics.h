// Spread, length and soft maxima over axes: compositions of reductions.
#pragma once
#include "compiler/frontend/reduce.h"

namespace firn {

/// The axes of a variance, and its divisor.
struct VarianceOptions {
    [[no_unique_address]] ByName by_name = {};
    Axes axis = {};          ///< none: all
    bool keep_dims = false;  ///< reduced axes stay with size 1
    int correction = 0;      ///< the sum is divided by the count less this (numpy's ddof)
};
/// The variance: the mean squared distance from the mean, by two passes. nan where the correction
/// leaves no count and the elements are equal.
///
/// Here and in the functions below integers and bools become f32; f16 and bf16 are computed in f32.
/// A nan makes its result nan.
///
/// Examples: `var(tensor({1, 3}))` is `1`, `var(tensor({1, 3}), {.correction = 1})` is `2`,
/// `var(tensor({1, 3}, {2, 1}), {.axis = 1})` is `{0, 0}`.
Tensor var(const Operand& x, const VarianceOptions& options = {});
/// The standard deviation, the variance's square root: numpy's std, a name that C++ has taken.
///
/// Example: `stddev(tensor({2, 4, 4, 4, 5, 5, 7, 9}))` is `2`.
Tensor stddev(const Operand& x, const VarianceOptions& options = {});
/// Over the axes in braces.
///
/// Example: `stddev(tensor({1, 3, 5, 5}, {2, 2}), {1})` is `{1, 0}`.
/// @{
inline Tensor var(const Operand& x, const AxisList& axes) { return var(x, {.axis = axes.values}); }
inline Tensor stddev(const Operand& x, const AxisList& axes) {
    return stddev(x, {.axis = axes.values});
}
/// @}

/// The axes over which a length is taken, and the order of the norm.
struct NormOptions {
    [[no_unique_address]] ByName by_name = {};
    Axes axis = {};          ///< none: all
    bool keep_dims = false;  ///< reduced axes stay with size 1
    /// 1: sum of magnitudes, 0: number of elements other than 0, infinity: the largest magnitude.
    double order = 2;
};
/// The length of vectors: the sum of |x|^order to the power 1 / order. Not scaled: squares beyond
/// the type's range are infinite. A negative order is a UserError.
///
/// Examples: after `Tensor x = tensor({3, -4, 0});` `norm(x)` is `5`, `norm(x, {.order = 1})` is
/// `7`, `norm(x, {.order = 0})` is `2`, `norm(x, {.order = INFINITY})` is `4`; and
/// `norm(tensor({3, 4, 6, 8}, {2, 2}), {1})` is `{5, 10}`.
/// @{
Tensor norm(const Operand& x, const NormOptions& options = {});
inline Tensor norm(const Operand& x, const AxisList& axes) {
    return norm(x, {.axis = axes.values});
}
/// @}

/// log(sum(exp(x))) without overflow on the way.
///
/// Examples: `logsumexp(tensor({0, 0}))` is `0.693147`, `logsumexp(tensor({1000, 1000}))` is
/// `1000.69`.
/// @{
Tensor logsumexp(const Operand& x, const ReduceOptions& options = {});
inline Tensor logsumexp(const Operand& x, const AxisList& axes) {
    return logsumexp(x, {.axis = axes.values});
}
/// @}

/// The axis along which softmax and log_softmax sum to 1.
struct SoftmaxOptions {
    int axis = -1;
};
/// exp(x) / sum(exp(x)) along an axis, without overflow on the way.
///
/// Examples: `softmax(tensor({0, 1}))` is `{0.268941, 0.731059}`, `softmax(tensor({1000, 1000}))`
/// is `{0.5, 0.5}`.
Tensor softmax(const Operand& x, const SoftmaxOptions& options = {});
/// The logarithm of softmax, x - logsumexp(x), which does not underflow.
///
/// Example: `log_softmax(tensor({0, 1000}))` is `{-1000, 0}`.
Tensor log_softmax(const Operand& x, const SoftmaxOptions& options = {});

}  // namespace firn
