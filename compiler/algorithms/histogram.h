// Counting by value.
#pragma once
#include "compiler/algorithms/scatter_in_order.h"
#include "compiler/frontend/tensor.h"

namespace firn {

/// How often each of 0 to count - 1 occurs in a tensor of integers, i32 [count], as numpy's
/// bincount; others are not counted.
Tensor bincount(const Operand& x, const Size& count);
/// The sums of the weights instead, in their type (32-bit at least); x and weights broadcast. Float
/// sums are atomic: the last bits may differ from run to run, unless they are asked for in the
/// order of x: `bincount(x, n, weights, {.deterministic = true})`.
Tensor bincount(const Operand& x, const Size& count, const Operand& weights,
                const CombineOptions& options = {});

struct HistogramOptions {
    Tensor low = 0.0f, high = 1.0f;  // numbers, or rank-0 tensors
};
/// How many elements lie in each of `bins` equal parts of [low, high], i32 [bins], as numpy's
/// histogram: parts are closed below, the last one on both sides; what is outside, and nan, is not
/// counted. The part is found by one multiplication: beside an edge, rounding decides.
Tensor histogram(const Operand& x, const Size& bins, const HistogramOptions& options = {});

/// sums[k] = the sum of the values whose id is k, for k below `count`; ids outside are left out.
/// values and ids: [n], ids integers; gives [count] of the values' type (i32 for bool and integers
/// of 8 and 16 bits). Each sum is made in the order of its values, so that floats have the same
/// bits in every run and on every device: what `scatter_add(sums(ids), values)` does not promise.
/// It sorts the ids.
Tensor segment_sum(const Operand& values, const Operand& ids, const Size& count);

}  // namespace firn
