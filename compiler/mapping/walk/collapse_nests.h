// Nests of loops that run as one loop, with an index for each.
#pragma once
#include <cstddef>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

struct MappingRun;

/// Returns a loop (a For node of the lowered kernel) and the loops inside that run as one with it,
/// outermost first. A loop that is unrolled completely is not part of the nest.
std::vector<NodeId> joined_nest(MappingRun& run, NodeId loop, size_t copy);

/// Returns whether some nest of loops runs faster as one loop. On a CPU driver entering a loop that
/// carries values is expensive, because the driver copies all of them under a mask. In the
/// collapsed loop every iteration computes what stood between the loops, so that must be index
/// arithmetic alone, and the inner loop must not be long.
bool collapses_nests(KernelCode ready, const DeviceProfile& profile, int64_t carried,
                     int64_t iterations_at_once);

}  // namespace firn
