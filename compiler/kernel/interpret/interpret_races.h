// Accesses to a group's memory that no barrier orders, for the host interpreter.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/kernel/interpret/interpret_lanes.h"
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Remembers, between two barriers, which lanes have read and stored each element of the shared
/// arrays of the group that runs.
class SharedRaces {
  public:
    /// Orders all accesses so far: at a barrier, or when another group begins.
    void order() { ++epoch_; }
    /// A Load, Store or Atomic of a shared buffer with `elements` by the lanes that run. UserError
    /// if another lane has stored the element, or reads it while this one stores, with no barrier
    /// between. Stores of one statement that meet are left to the device, atomics may meet.
    void access(const KernelNode& node, int64_t elements, const int32_t* index,
                const LaneMask& mask);

    /// An array begins as zeros; `lanes` of a group store them one after the other.
    void clear(const KernelNode& node, int64_t elements, int lanes);

  private:
    struct Use {
        const KernelNode* node = nullptr;
        int lane = -1;
        uint32_t epoch = 0;
    };
    struct Element {
        Use reader, other_reader, writer;  // two readers: a store may come of one of them
    };
    std::vector<Element>& buffer_of(const KernelNode& node, int64_t elements);
    bool by_another(const Use& use, int lane) const {
        return use.epoch == epoch_ && use.lane != lane;
    }
    void read(Element& element, const KernelNode& node, int lane) const;
    void write(Element& element, const KernelNode& node, int lane) const;

    std::vector<std::vector<Element>> elements_;  // by buffer
    uint32_t epoch_ = 1;
};

}  // namespace firn
