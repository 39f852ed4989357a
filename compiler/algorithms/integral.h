// Integrals of sampled functions by the trapezoidal rule.
#pragma once
#include "compiler/frontend/movement.h"

namespace firn {

struct TrapezoidOptions {
    [[no_unique_address]] ByName by_name = {};
    std::optional<Tensor> x = std::nullopt;  // coordinates: [n], or of y's shape; none: dx apart
    Tensor dx = 1.0f;
    int axis = -1;
};
/// The integral of y along an axis by the trapezoidal rule, as numpy's trapz; 0 for less than two
/// elements. Integers give f32, f16 and bf16 are added in f32.
Tensor trapz(const Operand& y, const TrapezoidOptions& options = {});
/// The integrals from the first element to each of the others, one fewer than elements, as scipy's
/// cumulative_trapezoid.
Tensor cumulative_trapezoid(const Operand& y, const TrapezoidOptions& options = {});

}  // namespace firn
