// The first values of parameters.
#pragma once
#include "compiler/learning/variable.h"

namespace firn {

// Of a weight [out, in, ..] the fan in is in times the sizes after it, the fan out is out times
// them: what one result sums, and what one element goes into. Values are f32.

/// Every element is `value`.
Initialiser constant_init(float value);
/// From low to high.
Initialiser uniform_init(float low, float high);
/// Mean 0.
Initialiser normal_init(float deviation);
/// Variance 2 / (fan in + fan out), uniform or normal. X. Glorot and Y. Bengio, "Understanding the
/// difficulty of training deep feedforward neural networks", 2010.
Initialiser xavier_uniform(float gain = 1.0f);
Initialiser xavier_normal(float gain = 1.0f);
/// Variance 2 / ((1 + slope^2) fan in), for what goes into relu or a leaky relu. K. He et al.,
/// "Delving Deep into Rectifiers", 2015.
Initialiser he_uniform(float slope = 0.0f);
Initialiser he_normal(float slope = 0.0f);
/// Orthonormal rows, or columns where there are fewer, of the weight as a matrix of out rows. A.
/// Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear neural
/// networks", 2014. UserError: a rank below 2.
Initialiser orthogonal(float gain = 1.0f);

/// Products of sizes that are numbers.
int64_t fan_in(const Shape& weight);
int64_t fan_out(const Shape& weight);

}  // namespace firn
