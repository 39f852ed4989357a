// Activations, written so that neither they nor their gradients overflow or cancel on the way.
#include "compiler/learning/activations.h"

#include <cmath>
#include <numbers>

#include "compiler/algorithms/real.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/math.h"
#include "compiler/frontend/slope.h"

namespace firn {
namespace {

/// f(x), where f is made of several steps: f16 and bf16 are rounded once.
template <class F>
Tensor in_wide(const Operand& x, const F& f) {
    LineScope at(x.line());
    const Tensor own = x.tensor();
    return f(as_wide(own)).as(real_type(own.dtype()));
}

Tensor real(const Tensor& x) { return x.as(real_type(x.dtype())); }

/// P(X > z) 2 of a normal X of deviation sqrt(1/2), z >= 0, to 1.2e-7 of itself: W. Press et al.,
/// "Numerical Recipes", erfcc.
Tensor erfc_of_positive(const Tensor& z) {
    const Tensor t = rcp(1.0f + 0.5f * z);
    Tensor p = 0.17087277f * t - 0.82215223f;
    for (const float c : {1.48851587f, -1.13520398f, 0.27886807f, -0.18628806f, 0.09678418f,
                          0.37409196f, 1.00002368f})
        p = p * t + c;
    return t * exp(p * t - 1.26551223f - z * z);
}

/// Returns P(X <= x) for a normal X; its derivative is the density.
Tensor normal_cdf(const Tensor& x) {
    Tensor value;
    if (x.dtype() == f64) {
        value = 0.5 * (1.0 + erf(x * (std::numbers::sqrt2 * 0.5)));
    } else {
        const Tensor tail = 0.5f * erfc_of_positive(abs(x) * (std::numbers::sqrt2 * 0.5));
        value = select(x < 0, tail, 1.0f - tail);
    }
    return with_slope(value, x, [](const Tensor& x, const Tensor&) {
        return exp(-0.5f * (x * x)) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    });
}

/// log(1 + exp(x)); its derivative is the logistic function.
Tensor softplus_of(const Tensor& x) {
    return with_slope(max(x, 0.0f) + log1p(exp(-abs(x))), x,
                      [](const Tensor& x, const Tensor&) { return sigmoid(x); });
}

}  // namespace

Tensor relu(const Operand& x) {
    LineScope at(x.line());
    const Tensor value = real(x.tensor());
    return custom_gradient(
        [](const std::vector<Tensor>& xs) { return select(xs[0] <= 0, 0, xs[0]); }, {value},
        [](const std::vector<Tensor>& xs, const Tensor&, const Tensor& g) {
            return std::vector<Tensor>{select(xs[0] <= 0, 0, g)};
        });
}
Tensor leaky_relu(const Operand& x, float slope) {
    LineScope at(x.line());
    const Tensor value = x.tensor();
    return select(value > 0.0f, value, value * slope);
}
Tensor elu(const Operand& x, float alpha) {
    return in_wide(x, [alpha](const Tensor& value) {
        return with_slope(
            select(value > 0, value, expm1(value) * alpha), value,
            [alpha](const Tensor& x, const Tensor&) { return select(x > 0, 1, exp(x) * alpha); });
    });
}
Tensor gelu(const Operand& x) {
    return in_wide(x, [](const Tensor& value) { return value * normal_cdf(value); });
}
Tensor silu(const Operand& x) {
    return in_wide(x, [](const Tensor& value) { return value * sigmoid(value); });
}
Tensor softplus(const Operand& x) { return in_wide(x, softplus_of); }
Tensor log_sigmoid(const Operand& x) {
    return in_wide(x, [](const Tensor& value) { return -softplus_of(-value); });
}
Tensor mish(const Operand& x) {
    return in_wide(x, [](const Tensor& value) { return value * tanh(softplus_of(value)); });
}
Tensor hardswish(const Operand& x) {
    return in_wide(x, [](const Tensor& value) {
        return value * (clamp(value + 3.0f, 0.0f, 6.0f) * (1.0 / 6));
    });
}

}  // namespace firn
