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

/// What an invocation knows of its place.
struct HandGrid {
    std::vector<int> self;  // its own index, along each axis
    /// Whether it is one of the grid: groups are whole, or the grid ends inside one and the rest of
    /// it does nothing.
    int inside = -1;
    int row = -1;  // its row in the buffers of arrays of its own; -1: there are none
};

/// Ranges of the groups and of the invocations in a group, and the place they give; with `lanes`
/// invocations in a subgroup, or 0 where the kernel uses none. Where `own` says that the grid runs
/// in slices, its groups are those of one slice, which the symbol `slice` counts.
HandGrid hand_grid(KernelBuilder& b, const Shape& grid, const std::vector<uint32_t>& group,
                   int64_t lanes, const OwnArrays& own, const std::string& slice,
                   const DeviceProfile& profile);

}  // namespace firn
