// Learning rates as functions of the step, on the host.
#pragma once
#include <cstdint>

#include "compiler/base/callback.h"

namespace firn {

/// The learning rate at a step, counted from 0. Before a step: `optimizer["lr"] = schedule(step)`;
/// a rate is an argument, so that nothing is compiled again.
using Schedule = Callback<float(int64_t step)>;

/// `rate` at every step.
///
/// Example: `constant_schedule(0.1f)(7)` is `0.1`.
Schedule constant_schedule(float rate);
/// Multiplies `rate` by `factor` after every `steps` steps, as torch's StepLR does.
///
/// Examples: `step_decay(1, 10)(9)` is `1`, `step_decay(1, 10)(10)` is `0.1`.
Schedule step_decay(float rate, int64_t steps, float factor = 0.1f);
/// `rate` times `factor` for every step.
///
/// Example: `exponential_decay(1, 0.5f)(3)` is `0.125`.
Schedule exponential_decay(float rate, float factor);
/// Goes from `rate` to `last` along half a cosine in `steps`; `last` afterwards. I. Loshchilov and
/// F. Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2017.
///
/// Examples: `cosine_decay(1, 100)(50)` is `0.5`, `cosine_decay(1, 100)(200)` is `0`.
Schedule cosine_decay(float rate, int64_t steps, float last = 0.0f);
/// Goes from `rate` to `last` along a line in `steps`; `last` afterwards.
///
/// Example: `linear_decay(1, 100)(25)` is `0.75`.
Schedule linear_decay(float rate, int64_t steps, float last = 0.0f);
/// Goes from rate / 25 to `rate` in the first 30 percent of `steps`, then down to rate / 250000,
/// along cosines. L. Smith and N. Topin, "Super-Convergence", 2018; as torch's OneCycleLR, but 3
/// steps or fewer begin with rate / 25 too.
///
/// Examples: `one_cycle(1, 100)(0)` is `0.04`, `one_cycle(1, 100)(29)` is `1`,
/// `one_cycle(1, 100)(99)` is `0.000004`.
Schedule one_cycle(float rate, int64_t steps);
/// Goes from 0 to the first rate of `then` along a line, in `steps`; then follows `then`, whose
/// steps count from there.
///
/// Examples: after `Schedule rate = warmup(10, linear_decay(1, 100));` `rate(5)` is `0.5`,
/// `rate(10)` is `1`, `rate(60)` is `0.5`.
Schedule warmup(int64_t steps, const Schedule& then);

}  // namespace firn
