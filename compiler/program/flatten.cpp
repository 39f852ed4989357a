// Unrolls the host steps of a program: rotations resolved to slots, barriers only at hazards.
#include <algorithm>
#include <numeric>
#include <optional>

#include "compiler/program/error.h"
#include "compiler/program/guards.h"
#include "compiler/program/program.h"

namespace firn {
namespace {

/// Turns of a loop whose end only the data knows between two looks at whether it has ended.
constexpr int64_t kTurnsPerLook = 16;

/// Which slots were touched since the last barrier.
class Hazards {
  public:
    explicit Hazards(size_t slots) : read_(slots), written_(slots) {}

    /// True when a step with these accesses must wait for an earlier one. Notes the accesses.
    bool step(const std::vector<int>& reads, const std::vector<int>& writes) {
        auto any = [](const std::vector<int>& slots, const std::vector<uint32_t>& seen,
                      uint32_t epoch) {
            return std::any_of(slots.begin(), slots.end(),
                               [&](int slot) { return seen[static_cast<size_t>(slot)] == epoch; });
        };
        bool hazard = any(reads, written_, epoch_) || any(writes, written_, epoch_) ||
                      any(writes, read_, epoch_);
        if (hazard) ++epoch_;
        for (int slot : reads) read_[static_cast<size_t>(slot)] = epoch_;
        for (int slot : writes) written_[static_cast<size_t>(slot)] = epoch_;
        return hazard;
    }

  private:
    // The barrier count at the last access; 0: never.
    std::vector<uint32_t> read_, written_;
    uint32_t epoch_ = 1;
};

class Flattener {
  public:
    Flattener(const Program& program, const SizeEnv& env)
        : program_(program),
          env_(env),
          slot_of_(program.buffers.size()),
          hazards_(program.buffers.size()) {
        for (size_t buffer = 0; buffer < slot_of_.size(); ++buffer)
            slot_of_[buffer] = static_cast<int>(buffer);
    }

    FlatProgram run() {
        add(program_.steps);
        for (const ResultInfo& result : program_.results)
            flat_.result_slots.push_back(slot(result.buffer));
        return std::move(flat_);
    }

  private:
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
            if (groups.evaluate(env_) <= 0) return;
        FlatStep step;
        step.dispatch = &dispatch;
        std::vector<int> reads, writes;
        for (size_t binding = 0; binding < dispatch.buffers.size(); ++binding) {
            int used = slot(dispatch.buffers[binding]);
            step.slots.push_back(used);
            (kernel.bindings[binding].written ? writes : reads).push_back(used);
        }
        append(std::move(step), reads, writes);
    }

    void add(const CopyStep& copy) {
        int source = slot(copy.source), target = slot(copy.target);
        const Size& elements = program_.buffers[static_cast<size_t>(copy.source)].elements;
        if (source == target || elements.evaluate(env_) <= 0) return;
        FlatStep step;
        step.copy = &copy;
        step.slots = {source, target};
        append(std::move(step), {source}, {target});
    }

    void add(const RepeatStep& repeat) {
        int64_t trips = repeat.trips.evaluate(env_);
        std::optional<int64_t> outer;
        if (auto found = env_.find(repeat.induction); found != env_.end()) outer = found->second;
        const int64_t chunk = turns_per_look(repeat);
        const bool endless = repeat.alive >= 0 && (trips > chunk || !repeat.never_ended.empty());
        const size_t loop = flat_.loops.size();
        if (endless)
            flat_.loops.push_back({flat_.steps.size(), 0, slot(repeat.alive), chunk, trips, repeat.induction,
                                   repeat.never_ended});
        for (int64_t turn = 0; turn < (endless ? chunk : trips); ++turn) {
            if (!repeat.induction.empty()) env_[repeat.induction] = turn;
            add(repeat.body);
            rotate(repeat.rotation);
        }
        if (endless && flat_.loops[loop].first == flat_.steps.size()) flat_.loops.resize(loop);
        else if (endless) flat_.loops[loop].last = flat_.steps.size();
        if (outer)
            env_[repeat.induction] = *outer;
        else
            env_.erase(repeat.induction);
    }

    /// At least kTurnsPerLook, and as many as bring every buffer back to its own memory.
    static int64_t turns_per_look(const RepeatStep& repeat) {
        int64_t period = 1;
        for (const auto& [first, second] : repeat.rotation) {
            int64_t length = 1;
            for (int at = second; at != first; ++length) {
                const auto next = std::find_if(repeat.rotation.begin(), repeat.rotation.end(),
                                               [&](const auto& pair) { return pair.first == at; });
                if (next == repeat.rotation.end()) break;
                at = next->second;
            }
            period = std::lcm(period, length);
        }
        return (kTurnsPerLook + period - 1) / period * period;
    }

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

    void append(FlatStep step, const std::vector<int>& reads, const std::vector<int>& writes) {
        step.env = env_;
        step.barrier_before = hazards_.step(reads, writes);
        flat_.steps.push_back(std::move(step));
    }

    const Program& program_;
    SizeEnv env_;
    std::vector<int> slot_of_;  // the memory that each buffer names now
    Hazards hazards_;
    FlatProgram flat_;
};

}  // namespace

FlatProgram flatten(const Program& program, const SizeEnv& env) {
    check_guards(program, env);
    return Flattener(program, env).run();
}

}  // namespace firn
