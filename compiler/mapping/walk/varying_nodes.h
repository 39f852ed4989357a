// Finds the nodes that differ between the copies of a kernel's body in one invocation.
#pragma once
#include <vector>

#include "compiler/mapping/walk/map_grid.h"

namespace firn {

/// Returns, by node of the lowered kernel, whether it depends on a Grid range whose index differs
/// between copies, or on the index or a carried value of a loop that does.
ByNode<bool> varying_nodes(const KernelCode& from, const std::vector<RangeId>& grid,
                           const std::vector<GridCopy>& copies);

}  // namespace firn
