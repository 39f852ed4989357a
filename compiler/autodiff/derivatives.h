// The partial derivatives of elementwise operations.
#pragma once
#include <optional>
#include <string_view>

#include "compiler/ir/builder.h"
#include "compiler/ir/op.h"

namespace firn {

/// The derivative of `op` by its input `k`, as a pattern (ir/pattern.h) of its inputs a and b and
/// of its result y; `0` where it is 0 wherever it exists. Nothing for Cast and Bitcast, and for
/// choices (Select, Min, Max), whose derivative is which input they take.
///
/// No factor on the way overflows or cancels where the derivative does not.
///
/// If the derivative does not exist, the result is a subgradient, or the limit from inside of the
/// domain: 0 for abs at 0, 0 for x^y by y at x = y = 0, 0 for the angle of (0, 0); it is infinite
/// where the slope is, as for roots at 0. Floor, ceil, round, trunc and sign have 0 everywhere.
std::optional<std::string_view> partial_derivative(Op op, int k);
/// The same as nodes, of an operation that has one which is not 0; of f16 and bf16 it may be an
/// f32.
Ref partial_derivative(const Builder& b, const Ref& node, int k);

}  // namespace firn
