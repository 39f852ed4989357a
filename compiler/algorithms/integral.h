// Integrals of sampled functions by the trapezoidal rule.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

/// The coordinates of the samples.
struct TrapezoidOptions {
    [[no_unique_address]] ByName by_name = {};
    /// Coordinates: [n], or of y's shape; none: dx apart.
    std::optional<Tensor> x = std::nullopt;
    Tensor dx = 1.0f;
    int axis = -1;
};
/// The integral of y along an axis by the trapezoidal rule, as numpy's trapz; 0 for less than two
/// elements. Integers give f32, f16 and bf16 are added in f32. UserError if there are not as many
/// coordinates as elements.
///
/// Examples: `trapz(tensor({0, 1, 4}), {.dx = 0.5f})` is `1.5`,
/// `trapz(tensor({0, 1, 4}), {.x = tensor({0.0f, 2.0f, 3.0f})})` is `3.5`.
Tensor trapz(const Operand& y, const TrapezoidOptions& options = {});
/// The integrals from the first element to each of the others, one fewer than elements, as scipy's
/// cumulative_trapezoid; types and errors are those of trapz.
///
/// Example: `cumulative_trapezoid(tensor({0, 1, 4}))` is `{0.5, 3}`.
Tensor cumulative_trapezoid(const Operand& y, const TrapezoidOptions& options = {});

}  // namespace firn
