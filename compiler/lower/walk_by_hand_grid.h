// The grid of a kernel by hand.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/lower/own_arrays.h"

namespace firn {

/// The group by axis: its user's, or the usual one with no idle places along short axes, and larger
/// where that leaves enough groups.
std::vector<uint32_t> hand_group(const LoopAttr& attr, const DeviceProfile& profile);

/// The groups of such a grid.
Size groups_of(const Shape& grid, const std::vector<uint32_t>& group);

/// The place of an invocation.
struct HandGrid {
    std::vector<NodeId> self;  // its own index, along each axis
    /// The node that is true for invocations of the grid. The grid may end inside a group, whose
    /// other invocations do nothing. It is a constant where groups are whole.
    NodeId inside;
    NodeId row;  // its row in the buffers of arrays of its own, or none
};

/// Adds the ranges of the groups and of the invocations in a group, and returns the place they
/// give; with `lanes` invocations in a subgroup, or 0 if the kernel uses none. If `own` runs the
/// grid in slices, its groups are those of one slice, which the symbol `slice` counts.
HandGrid hand_grid(KernelBuilder& b, const Shape& grid, const std::vector<uint32_t>& group,
                   int64_t lanes, const OwnArrays& own, const std::string& slice,
                   const DeviceProfile& profile);

}  // namespace firn
