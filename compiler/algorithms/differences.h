// Differences of neighbours, and derivatives by them.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

struct DiffOptions {
    [[no_unique_address]] ByName by_name = {};
    int n = 1;  // how often
    int axis = -1;
};
/// x[1] - x[0], x[2] - x[1], .. along an axis, n times, as numpy's diff: an axis of size s becomes
/// one of max(s - n, 0). Bools: whether they differ. UserError where n is negative.
Tensor diff(const Operand& x, const DiffOptions& options = {});

struct GradientOptions {
    [[no_unique_address]] ByName by_name = {};
    int axis = -1;
    Tensor spacing = 1.0f;  // between neighbours; or the coordinates of all elements, [n], rising
    int edge_order = 1;     // 2: differences of second order at both ends
};
/// The derivative along one axis by central differences of second order, one-sided at the ends, as
/// numpy's gradient with one `axis`. Integers give f32. UserError where the axis has no more
/// elements than edge_order. Of a function, by what it is computed from, see grad.
Tensor gradient(const Operand& x, const GradientOptions& options = {});
/// One for each axis in braces, between neighbours 1 apart: `gradient(x, {0, 1})`.
std::vector<Tensor> gradient(const Operand& x, const AxisList& axes);

}  // namespace firn
