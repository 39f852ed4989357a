// Builds loops of the lowered kernel that give values.
#pragma once
#include <cstddef>
#include <vector>

namespace firn {

struct MappingRun;

/// New results of a loop (a For node of the lowered kernel) for a copy. Loops that differ between
/// copies only in their values are jammed: one loop carries the values of all copies.
const std::vector<int>& loop_results(MappingRun& run, int loop, size_t copy);

}  // namespace firn
