// Counting by value.
#pragma once
#include "compiler/algorithms/scatter_in_order.h"
#include "compiler/frontend/tensor.h"

namespace firn {

/// Counts how often each of 0 to count - 1 occurs in a tensor of integers, i32 [count], as numpy's
/// bincount; others are not counted. UserError if x is no integer.
///
/// Example: `bincount(tensor({1, 2, 1, 7, -1}), 3)` is `{0, 2, 1}`.
Tensor bincount(const Operand& x, const Size& count);
/// The sums of the weights instead, in their type (32-bit at least); x and weights broadcast. Float
/// sums are atomic: the last bits may differ from run to run, unless `{.deterministic = true}`
/// keeps the order of x.
///
/// Example: `bincount(tensor({0, 1, 0}), 2, tensor({0.5f, 1.0f, 2.0f}))` is `{2.5, 1}`.
Tensor bincount(const Operand& x, const Size& count, const Operand& weights,
                const CombineOptions& options = {});

/// The ends of the counted range.
struct HistogramOptions {
    Tensor low = 0.0f, high = 1.0f;  ///< numbers, or rank-0 tensors
};
/// Counts the elements in each of `bins` equal parts of [low, high], i32 [bins], as numpy's
/// histogram: parts are closed below, the last one on both sides; elements outside, and nan, are
/// not counted. Part k begins at (low (bins - k) + high k) / bins in f32 (f64 of f64); integers
/// with integer ends are compared exactly, up to 65536 bins. Equal ends are moved 0.5 apart to each
/// side. UserError without bins, and for numbers that are not finite or low > high.
///
/// Examples: `histogram(tensor({0.1f, 0.2f, 0.9f, 1.0f, 1.5f}), 2)` is `{2, 2}`,
/// `histogram(tensor({1, 2, 3}), 2, {.low = 0, .high = 4})` is `{1, 2}`.
Tensor histogram(const Operand& x, const Size& bins, const HistogramOptions& options = {});

/// Returns sums[k] = the sum of the values with id k, for k below `count`; ids outside are left
/// out. values and ids: [n], ids integers; gives [count] of the values' type (i32 for bool and
/// integers of 8 and 16 bits).
///
/// Each sum is made in the order of its values, so that floats have the same bits in every run and
/// on every device, which `scatter_add(sums(ids), values)` does not promise. It sorts the ids.
///
/// Example: `segment_sum(tensor({1, 2, 3, 4}), tensor({0, 0, 2, 5}), 3)` is `{3, 0, 3}`.
Tensor segment_sum(const Operand& values, const Operand& ids, const Size& count);

}  // namespace firn
