// Loads, stores and atomics of Kernel code by the lanes of a workgroup, for the host interpreter.
#pragma once
#include <cstddef>
#include <span>

#include "compiler/kernel/interpret/interpret_lanes.h"
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// One access to the buffer of a Load, Store or Atomic node by the lanes that run. An element
/// outside `memory` is an InternalError that names kernel, buffer and index.
struct LaneAccess {
    const KernelCode& code;
    const KernelNode& node;
    std::span<std::byte> memory;
    const int32_t* index;  // by lane, in elements
    const LaneMask& mask;
};
/// `target` holds width(node) values per lane, one after the other.
void load_lanes(const LaneAccess& access, const Lanes& target);
/// Stores as many values as the node is wide, each lane after lane.
void store_lanes(const LaneAccess& access, std::span<const Lanes> values);
/// Combines memory with the value, lane after lane, as the node's dtype. `old`, unless null, gets
/// the value before.
void combine_lanes(const LaneAccess& access, const Lanes& value, const Lanes* old);

}  // namespace firn
