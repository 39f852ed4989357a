// Values with the maps at which a kernel asks for them.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

/// A set of values with maps, in the order in which they were asked for first. It is copied and
/// searched far more often than it grows: no allocation per entry.
class AskedValues {
  public:
    using Value = std::pair<const Node*, int>;

    /// True where the value was new.
    bool insert(const Value& value) {
        if (2 * (values_.size() + 1) > slots_.size()) grow();
        int32_t& slot = slots_[position(value)];
        if (slot != kFree) return false;
        slot = static_cast<int32_t>(values_.size());
        values_.push_back(value);
        return true;
    }
    bool contains(const Value& value) const {
        return !slots_.empty() && slots_[position(value)] != kFree;
    }
    std::vector<Value>::const_iterator begin() const { return values_.begin(); }
    std::vector<Value>::const_iterator end() const { return values_.end(); }

  private:
    static constexpr int32_t kFree = -1;

    /// Returns the slot of `value`, or the free slot for it.
    size_t position(const Value& value) const {
        const auto key = reinterpret_cast<uintptr_t>(value.first) +
                         0x2545f4914f6cdd1dull * static_cast<uint64_t>(value.second);
        const size_t mask = slots_.size() - 1;
        size_t at = (key * 0x9e3779b97f4a7c15ull >> 20) & mask;
        while (slots_[at] != kFree && values_[static_cast<size_t>(slots_[at])] != value)
            at = (at + 1) & mask;
        return at;
    }

    void grow() {
        slots_.assign(slots_.empty() ? 16 : 2 * slots_.size(), kFree);
        for (size_t k = 0; k < values_.size(); ++k)
            slots_[position(values_[k])] = static_cast<int32_t>(k);
    }

    std::vector<Value> values_;
    std::vector<int32_t> slots_;  // places in values_, a power of two of them
};

}  // namespace firn
