// What differs between the copies of a kernel's body in one invocation.
#pragma once
#include <vector>

#include "compiler/mapping/map_grid.h"

namespace firn {

/// By node of the lowered kernel: it depends on a Grid range whose index differs between copies, or
/// on the index or a carried value of a loop that does.
std::vector<bool> varying_nodes(const KernelCode& from, const std::vector<int>& grid,
                                const std::vector<GridCopy>& copies);

}  // namespace firn
