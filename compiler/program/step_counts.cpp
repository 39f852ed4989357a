// Counts how often each step of a program runs, without going through long loops iteration by
// iteration.
#include "compiler/program/step_counts.h"

#include <algorithm>
#include <limits>

namespace firn {
namespace {

/// Iterations of a loop that stand for the others, where they differ.
constexpr int64_t kSampledIterations = 1024;

bool differ(const std::vector<Step>& steps, const std::string& induction) {
    const auto varies = [&](const Size& size) { return mentions(size, induction); };
    return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
        if (const auto* repeat = std::get_if<RepeatStep>(&step.step))
            return varies(repeat->trips) || differ(repeat->body, induction);
        const auto* dispatch = std::get_if<DispatchStep>(&step.step);
        if (!dispatch) return false;
        const Work& work = dispatch->work;
        return std::any_of(dispatch->groups.begin(), dispatch->groups.end(), varies) ||
               varies(work.operations) || varies(work.bytes_read) || varies(work.bytes_written);
    });
}

class Counter {
  public:
    Counter(const Program& program, const SizeEnv& env,
            const std::function<void(const FlatStep&, int64_t)>& visit)
        : program_(program), visit_(visit), once_(outline(program).steps), env_(env) {}

    void add(const std::vector<Step>& steps, int64_t times) {
        for (const Step& step : steps) {
            if (const auto* repeat = std::get_if<RepeatStep>(&step.step))
                add(*repeat, times);
            else
                add_step(step, times);
        }
    }

  private:
    void add(const RepeatStep& repeat, int64_t times) {
        const size_t begin = next_;
        const int64_t trips =
            iterations_before_check(program_, repeat, repeat.trips.evaluate(env_), env_);
        const int64_t samples =
            std::min(trips, differ(repeat.body, repeat.induction) ? kSampledIterations : 1);
        const SizeEnv outer = env_;
        for (int64_t k = 0; k < samples; ++k) {
            const int64_t iteration = trips * k / samples, end = trips * (k + 1) / samples;
            if (!repeat.induction.empty()) env_[repeat.induction] = iteration;
            next_ = begin;
            add(repeat.body, times * (end - iteration));
        }
        if (samples < 1) next_ = begin + steps_in(repeat.body);
        env_ = outer;
    }

    void add_step(const Step& step, int64_t times) {
        FlatStep now = once_[next_++];
        if (const auto* dispatch = std::get_if<DispatchStep>(&step.step))
            for (const Size& groups : dispatch->groups)
                if (groups.evaluate(env_) <= 0) return;
        now.env = env_;
        visit_(now, times);
    }

    static size_t steps_in(const std::vector<Step>& steps) {
        size_t count = 0;
        for (const Step& step : steps) {
            const auto* repeat = std::get_if<RepeatStep>(&step.step);
            count += repeat ? steps_in(repeat->body) : 1;
        }
        return count;
    }

    const Program& program_;
    const std::function<void(const FlatStep&, int64_t)>& visit_;
    std::vector<FlatStep> once_;  // the outline: its steps in their order
    size_t next_ = 0;             // in it
    SizeEnv env_;
};

}  // namespace

void count_steps(const Program& program, const SizeEnv& env,
                 const std::function<void(const FlatStep&, int64_t times)>& visit) {
    if (!can_be_flat(program, env)) return Counter(program, env, visit).add(program.steps, 1);
    for (const FlatStep& step : flatten(program, env).steps) visit(step, 1);
}

int64_t add_times(int64_t sum, int64_t times, int64_t count) {
    int64_t product = 0, out = 0;
    const bool fits = !__builtin_mul_overflow(times, count, &product) &&
                      !__builtin_add_overflow(sum, product, &out);
    return fits ? out : std::numeric_limits<int64_t>::max();
}

double predicted_seconds(const Work& work, const SizeEnv& env, const DeviceProfile& profile) {
    const auto amount = [&](const Size& size) { return static_cast<double>(size.evaluate(env)); };
    return std::max(
               amount(work.operations) / profile.operations_per_second,
               (amount(work.bytes_read) + amount(work.bytes_written)) / profile.bytes_per_second) +
           profile.seconds_per_launch;
}

}  // namespace firn
