// The steps of a program in the order in which they run: rotations resolved to slots, barriers only
// at hazards.
#include "compiler/program/walk_steps.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "compiler/base/error.h"
#include "compiler/program/guards.h"
#include "compiler/program/hazards.h"
#include "compiler/program/step_counts.h"

namespace firn {
namespace {

/// Iterations between two reads of whether a loop has ended, if its end depends on data, and the
/// most kernel launches in between: a read takes as long as some tens of launches, and work after
/// the end is wasted.
constexpr int64_t kTurnsPerLook = 16;
constexpr double kLaunchesPerLook = 64;
/// Back edges of one invocation in between at the most: kernels that may take more are chunks of a
/// loop that is likely to have ended in the first one.
constexpr int64_t kBackEdgesPerLook = 4096;
/// Seconds: of a profile that says that launches cost nothing, as tests do.
constexpr double kLeastLaunch = 1e-6;

/// After as many iterations every buffer has its own memory again.
int64_t period_of(const std::vector<std::pair<int, int>>& rotation) {
    int64_t period = 1;
    for (const auto& [first, second] : rotation) {
        int64_t length = 1;
        for (int at = second; at != first; ++length) {
            const auto next = std::find_if(rotation.begin(), rotation.end(),
                                           [&](const auto& pair) { return pair.first == at; });
            if (next == rotation.end()) break;
            at = next->second;
        }
        period = std::lcm(period, length);
    }
    return period;
}

/// Returns at least so many iterations, and as many as bring every buffer back to its own memory.
int64_t whole_periods(const RepeatStep& repeat, int64_t iterations) {
    const int64_t period = period_of(repeat.rotation);
    return (iterations + period - 1) / period * period;
}

/// Returns the most back edges of an invocation of any of the kernels.
int64_t most_back_edges(const std::vector<Step>& steps, const Program& program) {
    int64_t most = 0;
    for (const Step& step : steps)
        if (const auto* dispatch = std::get_if<DispatchStep>(&step.step))
            most = std::max<int64_t>(
                most, program.kernels[static_cast<size_t>(dispatch->kernel)].back_edges);
    return most;
}

/// Some loop among the steps may have to be asked whether it goes on.
bool may_ask(const std::vector<Step>& steps);

/// Returns whether the device must be asked; a loop that ends before the first read needs no read.
bool is_asked(const RepeatStep& repeat, int64_t trips) {
    return repeat.alive >= 0 && (trips > whole_periods(repeat, kTurnsPerLook) ||
                                 !repeat.never_ended.empty() || may_ask(repeat.body));
}

bool may_ask(const std::vector<Step>& steps) {
    return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
        const auto* repeat = std::get_if<RepeatStep>(&step.step);
        return repeat && (may_ask(repeat->body) ||
                          is_asked(*repeat, repeat->trips.is_constant() ? repeat->trips.constant()
                                                                        : INT64_MAX));
    });
}

/// Returns whether the number or size of steps depends on the iteration of a loop around them.
bool shapes_mention(const std::vector<Step>& steps, const std::string& induction) {
    return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
        const auto* repeat = std::get_if<RepeatStep>(&step.step);
        return repeat &&
               (mentions(repeat->trips, induction) || shapes_mention(repeat->body, induction));
    });
}

/// Returns the weight of all steps together, or more than `most`; `weight(step, env)` is that of
/// one step, at least 1 or 0.
template <class Weight>
double weigh_steps(const std::vector<Step>& steps, const SizeEnv& env, double most,
                   const Weight& weight) {
    double sum = 0;
    for (const Step& step : steps) {
        const auto* repeat = std::get_if<RepeatStep>(&step.step);
        if (!repeat) {
            sum += weight(step, env);
            continue;
        }
        const int64_t trips = std::max<int64_t>(0, repeat->trips.evaluate(env));
        if (trips == 0) continue;
        const bool alike = !shapes_mention(repeat->body, repeat->induction);
        SizeEnv inside = env;
        for (int64_t iteration = 0; iteration < (alike ? 1 : trips) && sum <= most; ++iteration) {
            if (!repeat->induction.empty()) inside[repeat->induction] = iteration;
            const double one = std::max(1.0, weigh_steps(repeat->body, inside, most, weight));
            sum += one * static_cast<double>(alike ? trips : 1);
        }
    }
    return sum;
}

/// Returns at least the number of steps, or more than `most`.
double count_steps(const std::vector<Step>& steps, const SizeEnv& env, int64_t most) {
    return weigh_steps(steps, env, static_cast<double>(most),
                       [](const Step&, const SizeEnv&) { return 1.0; });
}

/// The device's time in launches of kernels that do nothing.
double count_launches(const std::vector<Step>& steps, const SizeEnv& env,
                      const DeviceProfile& profile) {
    const double launch = std::max(profile.seconds_per_launch, kLeastLaunch);
    return weigh_steps(steps, env, kLaunchesPerLook, [&](const Step& step, const SizeEnv& inside) {
        const auto* dispatch = std::get_if<DispatchStep>(&step.step);
        return dispatch ? std::max(1.0, predicted_seconds(dispatch->work, inside, profile) / launch)
                        : 1.0;
    });
}

class Walker {
  public:
    Walker(const Program& program, const SizeEnv& env, StepVisitor& visitor, const SlotSets& shared)
        : program_(program),
          visitor_(visitor),
          slot_of_(program.buffers.size()),
          hazards_(program.buffers.size(), shared) {
        now_.env = env;
        std::iota(slot_of_.begin(), slot_of_.end(), 0);
    }

    std::vector<int> run() {
        add(program_.steps);
        return result_slots();
    }

    /// Returns where the results end, by following only the rotations.
    std::vector<int> skip() {
        skip(program_.steps);
        return result_slots();
    }

  private:
    std::vector<int> result_slots() const {
        std::vector<int> out;
        for (const ResultInfo& result : program_.results) out.push_back(slot(result.buffer));
        return out;
    }

    int slot(int buffer) const {
        ensure(buffer >= 0 && static_cast<size_t>(buffer) < slot_of_.size(),
               "a program names a buffer that does not exist");
        return slot_of_[static_cast<size_t>(buffer)];
    }

    void add(const std::vector<Step>& steps) {
        for (const Step& step : steps)
            std::visit([this](const auto& kind) { add(kind); }, step.step);
    }

    void add(const DispatchStep& dispatch) {
        ensure(
            dispatch.kernel >= 0 && static_cast<size_t>(dispatch.kernel) < program_.kernels.size(),
            "a dispatch names a kernel that does not exist");
        const KernelInfo& kernel = program_.kernels[static_cast<size_t>(dispatch.kernel)];
        ensure(dispatch.buffers.size() == kernel.bindings.size(),
               "a dispatch has another number of buffers than its kernel has bindings");
        for (const Size& groups : dispatch.groups)
            if (groups.evaluate(now_.env) <= 0) return;
        now_.dispatch = &dispatch, now_.copy = nullptr, now_.call = nullptr;
        now_.slots.clear(), reads_.clear(), writes_.clear();
        for (size_t binding = 0; binding < dispatch.buffers.size(); ++binding) {
            int used = slot(dispatch.buffers[binding]);
            now_.slots.push_back(used);
            (kernel.bindings[binding].written ? writes_ : reads_).push_back(used);
        }
        visit();
    }

    void add(const CopyStep& copy) {
        int source = slot(copy.source), target = slot(copy.target);
        const Size& elements = program_.buffers[static_cast<size_t>(copy.source)].elements;
        if (source == target || elements.evaluate(now_.env) <= 0) return;
        now_.dispatch = nullptr, now_.copy = &copy, now_.call = nullptr;
        now_.slots = {source, target};
        reads_ = {source}, writes_ = {target};
        visit();
    }

    /// Takes place without elements too: another process may wait for it.
    void add(const CallStep& call) {
        now_.dispatch = nullptr, now_.copy = nullptr, now_.call = &call;
        now_.slots = {slot(call.input), slot(call.output)};
        reads_ = {now_.slots[0]}, writes_ = {now_.slots[1]};
        visit();
    }

    void visit() {
        now_.barrier_before = hazards_.step(reads_, writes_);
        visitor_.step(now_);
    }

    void add(const RepeatStep& repeat) {
        const int64_t trips = repeat.trips.evaluate(now_.env);
        const InductionScope scope(now_.env, repeat.induction);
        ++depth_;
        if (is_asked(repeat, trips))
            add_asked(repeat, trips);
        else
            for (int64_t iteration = 0; iteration < trips; ++iteration)
                add_iteration(repeat, iteration, trips);
        --depth_;
    }

    void add_iteration(const RepeatStep& repeat, int64_t iteration, int64_t trips) {
        if (depth_ == 1) visitor_.outermost_iteration(repeat, iteration, trips);
        if (!repeat.induction.empty()) now_.env[repeat.induction] = iteration;
        add(repeat.body);
        rotate(repeat.rotation);
    }

    /// Never takes more iterations than the trip count, because kernels are made for no larger
    /// iteration numbers. Iterations after the end change nothing, but they must end themselves: an
    /// inner loop that asks the device could run for ever on values that no iteration has, so the
    /// loops around it are asked before every iteration.
    void add_asked(const RepeatStep& repeat, int64_t trips) {
        const bool before = may_ask(repeat.body);
        const int64_t iterations =
            visitor_.asks_freely() ? 1 : iterations_before_check(program_, repeat, trips, now_.env);
        bool alive = true;
        for (int64_t iteration = 0; iteration < trips;) {
            if (before && !(alive = visitor_.goes_on(slot(repeat.alive), iteration))) return;
            for (const int64_t end = std::min(iteration + iterations, trips); iteration < end;
                 ++iteration)
                add_iteration(repeat, iteration, -1);
            if (!before && !(alive = visitor_.goes_on(slot(repeat.alive), iteration))) return;
        }
        if (repeat.never_ended.empty() || trips <= 0) return;
        if (before) alive = visitor_.goes_on(slot(repeat.alive), trips);
        if (alive) throw UserError(repeat.never_ended);
    }

    void skip(const std::vector<Step>& steps) {
        for (const Step& step : steps)
            if (const auto* repeat = std::get_if<RepeatStep>(&step.step)) skip(*repeat);
    }

    void skip(const RepeatStep& repeat) {
        const int64_t trips = repeat.trips.evaluate(now_.env);
        if (is_asked(repeat, trips)) return;
        const InductionScope scope(now_.env, repeat.induction);
        const std::vector<int> start = slot_of_;
        bool seek = !shapes_mention(repeat.body, repeat.induction);
        for (int64_t iteration = 0; iteration < trips; ++iteration) {
            if (!repeat.induction.empty()) now_.env[repeat.induction] = iteration;
            skip(repeat.body);
            rotate(repeat.rotation);
            if (!seek || slot_of_ != start) continue;
            iteration = trips - trips % (iteration + 1) - 1;  // the remainder after whole periods
            seek = false;
        }
    }

    /// Restores the iteration number of a loop around it.
    class InductionScope {
      public:
        InductionScope(SizeEnv& env, const std::string& induction)
            : env_(env), induction_(induction) {
            if (auto found = env.find(induction); found != env.end()) outer_ = found->second;
        }
        ~InductionScope() {
            if (outer_)
                env_[induction_] = *outer_;
            else
                env_.erase(induction_);
        }
        InductionScope(const InductionScope&) = delete;
        InductionScope& operator=(const InductionScope&) = delete;

      private:
        SizeEnv& env_;
        const std::string& induction_;
        std::optional<int64_t> outer_;
    };

    void rotate(const std::vector<std::pair<int, int>>& rotation) {
        std::vector<int> next, firsts, seconds;
        for (auto [first, second] : rotation) {
            next.push_back(slot(second));
            firsts.push_back(first);
            seconds.push_back(second);
        }
        std::sort(firsts.begin(), firsts.end());
        std::sort(seconds.begin(), seconds.end());
        ensure(
            firsts == seconds && std::adjacent_find(firsts.begin(), firsts.end()) == firsts.end(),
            "the rotation of a repeated step is not a permutation");
        for (size_t k = 0; k < rotation.size(); ++k) {
            (void)slot(rotation[k].first);
            slot_of_[static_cast<size_t>(rotation[k].first)] = next[k];
        }
    }

    const Program& program_;
    StepVisitor& visitor_;
    FlatStep now_;  // its env is that of the walk
    std::vector<int> reads_, writes_;
    std::vector<int> slot_of_;  // the memory that each buffer names now
    Hazards hazards_;
    int depth_ = 0;  // of loops
};

struct Collect : StepVisitor {
    FlatProgram flat;
    void step(const FlatStep& step) override { flat.steps.push_back(step); }
    bool goes_on(int, int64_t iterations) override { return iterations == 0; }
};

struct Nothing : StepVisitor {
    void step(const FlatStep&) override {}
    bool goes_on(int, int64_t) override { return false; }
};

}  // namespace

std::vector<int> walk_steps(const Program& program, const SizeEnv& env, StepVisitor& visitor,
                            const SlotSets& shared) {
    check_guards(program, env);
    return Walker(program, env, visitor, shared).run();
}

FlatProgram flatten(const Program& program, const SizeEnv& env) {
    Collect collect;
    collect.flat.result_slots = walk_steps(program, env, collect);
    return std::move(collect.flat);
}

bool can_be_flat(const Program& program, const SizeEnv& env) {
    return !may_ask(program.steps) &&
           count_steps(program.steps, env, kMostFlatSteps) <= kMostFlatSteps;
}

int64_t iterations_before_check(const Program& program, const RepeatStep& repeat, int64_t trips,
                                const SizeEnv& env) {
    if (!is_asked(repeat, trips)) return std::max<int64_t>(trips, 0);
    if (may_ask(repeat.body)) return 1;
    // Processes that call one another take as many iterations, whatever their sizes are.
    if (has_calls(repeat.body)) return 1;
    SizeEnv inside = env;
    if (!repeat.induction.empty()) inside[repeat.induction] = 0;
    const double launches = std::max(1.0, count_launches(repeat.body, inside, program.profile));
    const int64_t edges = std::max<int64_t>(1, most_back_edges(repeat.body, program));
    const int64_t most = std::clamp<int64_t>(kBackEdgesPerLook / edges, 1, kTurnsPerLook);
    const int64_t iterations =
        std::clamp<int64_t>(static_cast<int64_t>(kLaunchesPerLook / launches), 1, most);
    // If buffers have their own memory again, nothing needs to be copied at the end.
    const int64_t period = period_of(repeat.rotation);
    return iterations < period ? iterations : iterations / period * period;
}

std::vector<int> expected_result_slots(const Program& program, const SizeEnv& env) {
    Nothing nothing;
    const SlotSets apart;
    return Walker(program, env, nothing, apart).skip();
}

}  // namespace firn
