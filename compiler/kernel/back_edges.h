// Counts the back edges that an invocation of a kernel takes.
#pragma once
#include <cstdint>
#include <set>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Returns the largest number of loop back edges of one invocation; -1 if it depends on data or
/// symbols. The pass in which a loop sees that it has ended counts, and goes through the loops
/// inside once more; both sides of a branch are gone through. `apart` are the For nodes that a
/// target puts inside a loop of one iteration each.
int64_t count_back_edges(const KernelCode& code, const std::set<NodeId>& apart = {});
/// Returns the loops of a region, with those inside of others.
int64_t count_loops(const KernelCode& code, RegionId region);

}  // namespace firn
