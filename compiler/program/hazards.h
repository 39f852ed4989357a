// Finds which steps must wait for one another.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "compiler/program/walk_steps.h"

namespace firn {

/// The slots that were touched since the last barrier.
class Hazards {
  public:
    Hazards(size_t slots, const SlotSets& shared)
        : shared_(shared), read_(slots), written_(slots) {}

    /// True when a step with these accesses must wait for an earlier one. Notes the accesses.
    bool step(const std::vector<int>& reads, const std::vector<int>& writes) {
        bool hazard = any(reads, written_) || any(writes, written_) || any(writes, read_);
        if (hazard) ++epoch_;
        for (int slot : reads) read_[static_cast<size_t>(slot)] = epoch_;
        for (int slot : writes) written_[static_cast<size_t>(slot)] = epoch_;
        return hazard;
    }

  private:
    bool any(const std::vector<int>& slots, const std::vector<uint32_t>& seen) const {
        const auto now = [&](int slot) { return seen[static_cast<size_t>(slot)] == epoch_; };
        return std::any_of(slots.begin(), slots.end(), [&](int slot) {
            if (now(slot)) return true;
            if (shared_.empty()) return false;
            const std::vector<int>& others = shared_[static_cast<size_t>(slot)];
            return std::any_of(others.begin(), others.end(), now);
        });
    }

    const SlotSets& shared_;
    // The barrier count at the last access; 0: never.
    std::vector<uint32_t> read_, written_;
    uint32_t epoch_ = 1;
};

}  // namespace firn
