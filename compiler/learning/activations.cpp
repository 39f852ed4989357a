// Activations, written so that their gradients neither overflow nor are not numbers.
#include "compiler/learning/activations.h"

#include <cmath>
#include <numbers>

#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"

namespace firn {

Tensor relu(const Operand& x) {
    LineScope at(x.line());
    return max(x.tensor(), 0.0f);
}
Tensor leaky_relu(const Operand& x, float slope) {
    LineScope at(x.line());
    const Tensor value = x.tensor();
    return select(value > 0.0f, value, value * slope);
}
Tensor elu(const Operand& x, float alpha) {
    LineScope at(x.line());
    const Tensor value = x.tensor();
    return select(value > 0.0f, value, expm1(min(value, 0.0f)) * alpha);
}
Tensor gelu(const Operand& x) {
    LineScope at(x.line());
    const Tensor value = x.tensor();
    return value * 0.5f * (1.0f + erf(value * std::numbers::sqrt2 * 0.5));
}
Tensor silu(const Operand& x) {
    LineScope at(x.line());
    return x.tensor() * sigmoid(x);
}
Tensor softplus(const Operand& x) {
    LineScope at(x.line());
    const Tensor value = x.tensor();
    return max(value, 0.0f) + log1p(exp(-abs(value)));
}
Tensor log_sigmoid(const Operand& x) {
    LineScope at(x.line());
    return -softplus(-x.tensor());
}
Tensor mish(const Operand& x) {
    LineScope at(x.line());
    return x.tensor() * tanh(softplus(x));
}
Tensor hardswish(const Operand& x) {
    LineScope at(x.line());
    const Tensor value = x.tensor();
    return value * clamp(value + 3.0f, 0.0f, 6.0f) * (1.0f / 6.0f);
}

}  // namespace firn
