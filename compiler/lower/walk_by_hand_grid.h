// The grid of a kernel by hand.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/kernel/kernel_builder.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// The group by axis: its user's, or a larger one than the usual where that leaves enough of them.
std::vector<uint32_t> hand_group(const LoopAttr& attr, const DeviceProfile& profile);

/// The invocation's own index: a range of the groups and one of the invocations in a group, for
/// each axis; with `lanes` invocations in a subgroup, or 0 where it uses none.
std::vector<int> hand_grid(KernelBuilder& b, const Shape& grid, const std::vector<uint32_t>& group,
                           int64_t lanes);

/// Whether the invocation at `self` is one of the grid: groups are whole, or the grid ends inside
/// one and the rest of it does nothing.
int inside_grid(KernelBuilder& b, const Shape& grid, const std::vector<uint32_t>& group,
                const std::vector<int>& self);

}  // namespace firn
