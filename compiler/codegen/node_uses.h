// Counts the uses of a kernel's nodes, and finds the regions that use them.
#pragma once
#include <vector>

#include "compiler/kernel/kernel_code.h"

namespace firn {

struct NodeUses {
    // By node:
    std::vector<int> count;
    std::vector<int> home;    // the region with the node in its order, -1: none
    std::vector<int> asking;  // the last region that uses it, -1: none

    std::vector<bool> range;  // by range: one of its nodes is used
    /// By parameter: the host gives it, and a loop uses it. It is read once, before all loops,
    /// because CPU drivers would read it in every iteration.
    std::vector<bool> held;
};

/// Returns the uses in placed code.
NodeUses uses_of(const KernelCode& code);

}  // namespace firn
