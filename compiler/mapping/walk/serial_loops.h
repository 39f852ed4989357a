// Builds loops of the lowered kernel that give values.
#pragma once
#include <cstddef>
#include <vector>

#include "compiler/kernel/ids.h"

namespace firn {

struct MappingRun;

/// New results of a loop (a For node of the lowered kernel) for a copy. Loops that differ between
/// copies only in their values are jammed: one loop carries the values of all copies.
const std::vector<NodeId>& loop_results(MappingRun& run, NodeId loop, size_t copy);

}  // namespace firn
