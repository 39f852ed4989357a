// Counts the uses of a kernel's nodes, and finds the regions that use them.
#pragma once
#include <vector>

#include "compiler/kernel/kernel_code.h"

namespace firn {

struct NodeUses {
    std::vector<int> count;   // uses of each node
    std::vector<int> home;    // for each node the region with it in its order, -1: none
    std::vector<int> asking;  // for each node the last region that uses it, -1: none

    std::vector<bool> range;  // by range: one of its nodes is used
    /// True for each parameter that the host gives and a loop uses. Such a parameter is read once,
    /// before all loops, because CPU drivers would read it in every iteration.
    std::vector<bool> held;
};

/// Returns the uses in placed code.
NodeUses uses_of(const KernelCode& code);

}  // namespace firn
