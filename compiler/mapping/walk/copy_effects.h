// Effects of the lowered kernel in the copies of its body that an invocation has.
#pragma once
#include <cstddef>
#include <vector>

#include "compiler/kernel/ids.h"

namespace firn {

struct MappingRun;

/// Adds a root effect of the lowered kernel to those of each copy; stores of neighbours along x to
/// the first of these copies, four at a time where they are aligned.
void build_effect(MappingRun& run, NodeId effect, std::vector<std::vector<NodeId>>& by_copy);

}  // namespace firn
