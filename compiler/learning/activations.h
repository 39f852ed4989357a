// Functions between layers, element by element, beside math.h's tanh and sigmoid.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// max(x, 0).
Tensor relu(const Operand& x);
/// x where it is positive, else slope x.
Tensor leaky_relu(const Operand& x, float slope = 0.01f);
/// x where it is positive, else alpha (exp(x) - 1). D. Clevert et al., 2016.
Tensor elu(const Operand& x, float alpha = 1.0f);
/// x P(X <= x) of a normal X, by erf. D. Hendrycks and K. Gimpel, 2016.
Tensor gelu(const Operand& x);
/// x sigmoid(x), as SiLU or swish.
Tensor silu(const Operand& x);
/// log(1 + exp(x)), without overflow.
Tensor softplus(const Operand& x);
/// log(sigmoid(x)), without underflow.
Tensor log_sigmoid(const Operand& x);
/// x tanh(softplus(x)). D. Misra, 2019.
Tensor mish(const Operand& x);
/// x clamp(x + 3, 0, 6) / 6. A. Howard et al., "Searching for MobileNetV3", 2019.
Tensor hardswish(const Operand& x);

}  // namespace firn
