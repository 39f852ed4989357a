// Differences of neighbours, and derivatives by them.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

/// The options of diff.
struct DiffOptions {
    [[no_unique_address]] ByName by_name = {};
    int n = 1;  ///< how often
    int axis = -1;
};
/// The differences x[k + 1] - x[k] along an axis, n times, as numpy's diff: an axis of size s
/// becomes one of max(s - n, 0). Integers of 8 and 16 bits give i32; bools: whether they differ.
/// UserError where n is negative.
///
/// Examples: `diff(tensor({1, 4, 9, 16}))` is `{3, 5, 7}`,
/// `diff(tensor({1, 4, 9, 16}), {.n = 2})` is `{2, 2}`.
Tensor diff(const Operand& x, const DiffOptions& options = {});

/// The coordinates of the elements, and the order at the ends.
struct GradientOptions {
    [[no_unique_address]] ByName by_name = {};
    int axis = -1;
    /// The distance of neighbours, or the coordinates of all elements, [n], rising.
    Tensor spacing = 1.0f;
    int edge_order = 1;  ///< 2: differences of second order at both ends
};
/// The derivative along one axis by central differences of second order, one-sided at the ends, as
/// numpy's gradient with one `axis`. Integers give f32. UserError if the axis has no more elements
/// than edge_order. For the derivative of a function by its inputs, see grad.
///
/// Examples: `gradient(tensor({0, 1, 4, 9}))` is `{1, 2, 4, 5}`,
/// `gradient(tensor({0, 1, 4, 9}), {.edge_order = 2})` is `{0, 2, 4, 6}`,
/// `gradient(tensor({0, 1, 9}), {.spacing = tensor({0.0f, 1.0f, 3.0f})})` is `{1, 2, 4}`.
Tensor gradient(const Operand& x, const GradientOptions& options = {});
/// The derivatives along each axis in braces, for neighbours 1 apart.
///
/// Example: `gradient(tensor({0, 1, 5, 6}, {2, 2}), {0, 1})[0]` is `{{5, 5}, {5, 5}}`.
std::vector<Tensor> gradient(const Operand& x, const AxisList& axes);

}  // namespace firn
