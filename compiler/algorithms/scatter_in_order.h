// Combining stores of floats in the order of their positions, the same in every run and on every
// device.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

/// The order in which values at one index are combined.
struct CombineOptions {
    [[no_unique_address]] ByName by_name = {};
    /// Values at one index are added (multiplied) one after the other, in the row-major order of
    /// their positions, to the old value: the same bits in every run and on every device. It sorts
    /// the positions by their indices.
    bool deterministic = false;
};
/// Adds or multiplies in an order that can be chosen, as in
/// `scatter_add(force(i, j), f, {.deterministic = true})`; see scatter_add without options.
/// Integers are exact either way. UserError inside a kernel by hand, and under a condition with a
/// shape.
///
/// Examples: after `Tensor x = zeros({3}); scatter_add(x(tensor({1, 1, 2})), tensor({1.0f, 2.0f,
/// 4.0f}), {.deterministic = true});` `x` is `{0, 3, 4}`, after `Tensor y = ones({2});
/// scatter_mul(y(tensor({1, 1, 5})), 3.0f, {.deterministic = true});` `y` is `{1, 9}`.
/// @{
void scatter_add(const Access& place, const Arg& value, const CombineOptions& options);
void scatter_mul(const Access& place, const Arg& value, const CombineOptions& options);
/// @}

/// @cond

/// `start` [n] with each value combined at its id, in the order of the values; ids outside 0 .. n -
/// 1 are left out. ids and values: vectors of one length.
Tensor added_in_order(const Tensor& start, const Tensor& ids, const Tensor& values);
Tensor multiplied_in_order(const Tensor& start, const Tensor& ids, const Tensor& values);

/// @endcond

}  // namespace firn
