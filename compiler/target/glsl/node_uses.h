// Counts the uses of a kernel's nodes, and finds the regions that use them.
#pragma once
#include <vector>

#include "compiler/kernel/kernel_code.h"

namespace firn {

struct NodeUses {
    ByNode<int> count;        // uses of each node
    ByNode<RegionId> home;    // for each node the region with it in its order, or none
    ByNode<RegionId> asking;  // for each node the last region that uses it, or none

    ByRange<bool> range;  // by range: one of its nodes is used
    /// True for each parameter that the host gives and a loop uses. Such a parameter is read once,
    /// before all loops, because CPU drivers would read it in every iteration.
    std::vector<bool> held;
};

/// Returns the uses in placed code.
NodeUses uses_of(const KernelCode& code);

}  // namespace firn
