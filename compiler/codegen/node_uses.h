// How often, and from where, the nodes of a kernel are asked for.
#pragma once
#include <vector>

#include "compiler/kernel/kernel_code.h"

namespace firn {

struct NodeUses {
    // By node.
    std::vector<int> count;
    std::vector<int> home;    // the region whose order it stands in, -1: none
    std::vector<int> asking;  // the last region that asks for it, -1: none

    std::vector<bool> range;  // by range: one of its nodes is asked for
    /// By parameter: the host gives it, and a loop asks for it. It is read once, before all loops:
    /// CPU drivers would read it in every iteration.
    std::vector<bool> held;
};

/// Of placed code.
NodeUses uses_of(const KernelCode& code);

}  // namespace firn
