// The groups that a kernel is launched with.
#pragma once
#include <vector>

#include "compiler/kernel/kernel_builder.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// The indices of this group along each of several axes.
struct GroupIndices {
    std::vector<NodeId> index;
    bool covered = true;  // else that along the last axis may lie behind its end
};

/// Adds Group ranges for axes of so many groups each (x first), and sets the groups of the kernel
/// that `b` builds.
GroupIndices launch_groups(KernelBuilder& b, const std::vector<Size>& groups,
                           const DeviceProfile& profile);

/// Adds to `out` the index along each of the axes from `first` on (x first), `groups` of them each,
/// of the group with that number: x counts fastest, and the last axis takes the remainder.
void split_group_number(KernelBuilder& b, const std::vector<Size>& groups, NodeId number,
                        size_t first, std::vector<NodeId>& out);

}  // namespace firn
