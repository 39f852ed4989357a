// Learning rates as functions of the step, on the host.
#pragma once
#include <cstdint>

#include "compiler/program/callback.h"

namespace firn {

/// What the learning rate is at a step, counted from 0. Before a step:
/// `optimizer["lr"] = schedule(step)`; a rate is an argument, so that nothing is compiled again.
using Schedule = Callback<float(int64_t step)>;

Schedule constant_schedule(float rate);
/// `rate` times `factor` for every `steps` that are over. As torch's StepLR.
Schedule step_decay(float rate, int64_t steps, float factor = 0.1f);
/// `rate` times `factor` for every step.
Schedule exponential_decay(float rate, float factor);
/// From `rate` to `last` along half a cosine in `steps`; `last` afterwards. I. Loshchilov and F.
/// Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2017.
Schedule cosine_decay(float rate, int64_t steps, float last = 0.0f);
/// From `rate` to `last` along a line; `last` afterwards.
Schedule linear_decay(float rate, int64_t steps, float last = 0.0f);
/// From rate / 25 to `rate` in the first 30 percent of `steps`, then down to rate / 250000, along
/// cosines. L. Smith and N. Topin, "Super-Convergence", 2018; as torch's OneCycleLR.
Schedule one_cycle(float rate, int64_t steps);
/// A line from 0 to what `then` begins with, in `steps`; then `then`, whose steps count from there.
Schedule warmup(int64_t steps, const Schedule& then);

}  // namespace firn
