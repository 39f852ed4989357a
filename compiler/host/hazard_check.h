// A check of barriers, for executors that run one step after the other.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "compiler/base/error.h"
#include "compiler/program/program.h"

namespace firn {

/// Checks that steps between two barriers do not touch bytes that another of them writes: this
/// finds a missing barrier and a wrong lifetime, which running one step after the other would hide.
class HazardCheck {
  public:
    /// `memory` is that of each slot, `written[k]` belongs to step.slots[k].
    void step(const FlatStep& step, const std::vector<bool>& written,
              const std::vector<std::span<std::byte>>& memory) {
        if (step.barrier_before) touched_.clear();
        std::vector<Touched> now;
        for (size_t k = 0; k < step.slots.size(); ++k) {
            const std::span<std::byte> bytes = memory[static_cast<size_t>(step.slots[k])];
            now.push_back({bytes.data(), bytes.data() + bytes.size(), written[k]});
        }
        for (const Touched& a : touched_)
            for (const Touched& b : now)
                if ((a.written || b.written) && a.begin < b.end && b.begin < a.end)
                    throw InternalError(
                        "internal error: a step touches memory that an earlier one uses, without a "
                        "barrier between them");
        touched_.insert(touched_.end(), now.begin(), now.end());
    }

  private:
    struct Touched {
        const std::byte *begin, *end;
        bool written;
    };
    std::vector<Touched> touched_;
};

}  // namespace firn
