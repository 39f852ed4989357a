// Divides the iterations of a lowered kernel's loop into parts: how many are unrolled, and the
// remainder.
#pragma once
#include <vector>

#include "compiler/mapping/walk/deal_iterations.h"

namespace firn {

struct MappingRun;

/// Returns whether the lanes of a subgroup share the loop's iterations. `loop`: a For node of the
/// lowered kernel, as everywhere here.
bool is_split(const MappingRun& run, NodeId loop);
/// Returns whether no other loop is in this loop's body. `region`: the body.
bool is_innermost(const MappingRun& run, RegionId region);
/// Deals the iterations `unrolled` at once, or fewer if there are not as many; also to the lanes if
/// they share the loop. `extent`: the trip count, a node that is built.
std::vector<Part> deal_loop(MappingRun& run, NodeId loop, NodeId extent, int64_t unrolled);
/// Deals as many iterations at once as the mapping says for such a loop. `copy`: the copy whose
/// trip count is used.
std::vector<Part> parts_of_loop(MappingRun& run, NodeId loop, size_t copy);

}  // namespace firn
