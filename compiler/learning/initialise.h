// The first values of parameters.
#pragma once
#include "compiler/learning/variable.h"

namespace firn {

/// Every element is `value`. Values of this and the other initialisers are f32.
///
/// Example: `constant_init(2)({3}, {})` is `{2, 2, 2}`.
Initialiser constant_init(float value);
/// Uniform from low to high.
///
/// Example: after `Tensor w = uniform_init(2, 3)({100}, {.seed = 1});`
/// `all((w >= 2.0f) & (w <= 3.0f))` is `true`.
Initialiser uniform_init(float low, float high);
/// Normal with mean 0.
///
/// Example: after `Tensor w = normal_init(2)({10000}, {.seed = 1});` `round(mean(square(w)))` is
/// `4`.
Initialiser normal_init(float deviation);
/// Variance 2 gain^2 / (fan in + fan out) (see fan_in), uniform or normal. X. Glorot and Y. Bengio,
/// "Understanding the difficulty of training deep feedforward neural networks", 2010. UserError: a
/// rank below 2.
///
/// Examples: after `Tensor u = xavier_uniform()({2, 4}, {.seed = 1});` `all(abs(u) <= 1.0f)` is
/// `true`, and after `Tensor w = xavier_normal()({100, 100}, {.seed = 1});`
/// `round(100.0f * mean(square(w)))` is `1`.
/// @{
Initialiser xavier_uniform(float gain = 1.0f);
Initialiser xavier_normal(float gain = 1.0f);
/// @}

/// Variance 2 / ((1 + slope^2) fan in), uniform or normal, for layers before relu or a leaky relu.
/// K. He et al., "Delving Deep into Rectifiers", 2015. UserError: a rank below 2.
///
/// Examples: after `Tensor u = he_uniform()({3, 6}, {.seed = 1});` `all(abs(u) <= 1.0f)` is `true`,
/// and after `Tensor w = he_normal()({100, 200}, {.seed = 1});` `round(100.0f * mean(square(w)))`
/// is `1`.
/// @{
Initialiser he_uniform(float slope = 0.0f);
Initialiser he_normal(float slope = 0.0f);
/// @}

/// Orthonormal rows, or columns where there are fewer, of the weight as a matrix of out rows, times
/// gain. A. Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear
/// neural networks", 2014. UserError: a rank below 2.
///
/// Example: after `Tensor w = orthogonal()({2, 3}, {.seed = 1});` `matmul(w, w.T())` is
/// `{{1, 0}, {0, 1}}`.
Initialiser orthogonal(float gain = 1.0f);

/// Returns `in` times the sizes after it, for a weight [out, in, ..]: the number of terms of one
/// result. UserError: a rank below 2.
///
/// Example: `fan_in({8, 3, 5, 5})` is `75`.
int64_t fan_in(const Shape& weight);
/// Returns `out` times the sizes after `in`, for a weight [out, in, ..]: the number of results that
/// one element contributes to. UserError: a rank below 2.
///
/// Example: `fan_out({8, 3, 5, 5})` is `200`.
int64_t fan_out(const Shape& weight);

}  // namespace firn
