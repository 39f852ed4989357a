// Loops that read operands from shared memory, some iterations at a time.
#pragma once
#include <vector>

#include "compiler/mapping/walk/jam_loops.h"

namespace firn {

/// Builds one of the run's staged loops in blocks of iterations: before each block the group loads
/// the operands of the block, and waits. Takes the values before it, gives those after it.
Carried build_staged_loop(MappingRun& run, NodeId loop, const std::vector<size_t>& group,
                          Carried values);

/// Reads all that is staged and changes with the iterations of `range` where one of them begins:
/// once for all its uses.
void read_staged(MappingRun& run, RangeId range, const std::vector<size_t>& group);

/// A node that is staged, as a copy reads it in the iteration that is built now; none: it is not
/// staged.
NodeId staged_value(MappingRun& run, NodeId node, size_t copy);

}  // namespace firn
