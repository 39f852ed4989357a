// Functions between layers, element by element, beside math.h's tanh and sigmoid.
#pragma once
#include "compiler/frontend/tensor.h"

namespace firn {

/// x where it is positive, else 0, with gradient 0 at 0. Here and in all activations a nan stays
/// nan, f16 and bf16 are computed in f32, and integers become f32; accuracy.md has their errors.
///
/// Examples: `relu(tensor({-1.0f, 2.0f}))` is `{0, 2}`, `relu(log(tensor({-1.0f})))` is `{nan}`.
Tensor relu(const Operand& x);
/// x where it is positive, else slope x.
///
/// Example: `leaky_relu(tensor({-1.0f, 2.0f}), 0.1f)` is `{-0.1, 2}`.
Tensor leaky_relu(const Operand& x, float slope = 0.01f);
/// x where it is positive, else alpha (exp(x) - 1). D. Clevert et al., 2016.
///
/// Example: `elu(tensor({-1.0f, 2.0f}))` is `{-0.632121, 2}`.
Tensor elu(const Operand& x, float alpha = 1.0f);
/// x P(X <= x) of a normal X, as torch's with erf. D. Hendrycks and K. Gimpel, 2016.
///
/// Example: `gelu(tensor({-1.0f, 0.0f, 1.0f}))` is `{-0.158655, 0, 0.841345}`.
Tensor gelu(const Operand& x);
/// x sigmoid(x), as SiLU or swish.
///
/// Example: `silu(tensor({-1.0f, 0.0f, 1.0f}))` is `{-0.268941, 0, 0.731059}`.
Tensor silu(const Operand& x);
/// log(1 + exp(x)), without overflow.
///
/// Example: `softplus(tensor({0.0f, 1000.0f}))` is `{0.693147, 1000}`.
Tensor softplus(const Operand& x);
/// log(sigmoid(x)), without underflow.
///
/// Example: `log_sigmoid(tensor({0.0f, -1000.0f}))` is `{-0.693147, -1000}`.
Tensor log_sigmoid(const Operand& x);
/// x tanh(softplus(x)). D. Misra, 2019.
///
/// Example: `mish(tensor({0.0f, 1.0f}))` is `{0, 0.865098}`.
Tensor mish(const Operand& x);
/// x clamp(x + 3, 0, 6) / 6. A. Howard et al., "Searching for MobileNetV3", 2019.
///
/// Example: `hardswish(tensor({-3.0f, 1.0f, 4.0f}))` is `{0, 0.666667, 4}`.
Tensor hardswish(const Operand& x);

}  // namespace firn
