// Schedules as closures over their ends.
#include "compiler/learning/rate_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace firn {
namespace {

/// Returns the share of `steps` that is done, from 0 to 1.
double part(int64_t step, int64_t steps) {
    return steps > 0 ? std::min(1.0, double(step) / double(steps)) : 1.0;
}

float cosine(double from, double to, double part) {
    return float(to + (from - to) * (1 + std::cos(std::numbers::pi * part)) / 2);
}

}  // namespace

Schedule constant_schedule(float rate) {
    return [rate](int64_t) { return rate; };
}
Schedule step_decay(float rate, int64_t steps, float factor) {
    return [=](int64_t step) {
        return float(rate * std::pow(double(factor), double(step / std::max<int64_t>(steps, 1))));
    };
}
Schedule exponential_decay(float rate, float factor) {
    return [=](int64_t step) { return float(rate * std::pow(double(factor), double(step))); };
}
Schedule cosine_decay(float rate, int64_t steps, float last) {
    return [=](int64_t step) { return cosine(rate, last, part(step, steps)); };
}
Schedule linear_decay(float rate, int64_t steps, float last) {
    return [=](int64_t step) { return float(rate + (last - rate) * part(step, steps)); };
}
Schedule one_cycle(float rate, int64_t steps) {
    return [=](int64_t step) {
        const double up = 0.3 * double(steps) - 1, down = double(steps) - 1 - up;
        if (step <= 0 && steps > 0) return float(rate / 25.0);  // of few steps none is before `up`
        if (double(step) <= up) return cosine(rate / 25.0, rate, double(step) / up);
        return cosine(rate, rate / 250000.0, std::min(1.0, (double(step) - up) / down));
    };
}
Schedule warmup(int64_t steps, const Schedule& then) {
    return [=](int64_t step) {
        return step < steps ? float(then(0) * part(step, steps)) : then(step - steps);
    };
}

}  // namespace firn
