// Nests of loops that run as one loop, with an index for each.
#pragma once
#include <cstddef>
#include <vector>

namespace firn {

struct MappingRun;

/// A loop (a For node of the lowered kernel) and those inside that run as one with it, outermost
/// first. What is unrolled completely stays inside.
std::vector<int> joined_nest(MappingRun& run, int loop, size_t copy);

}  // namespace firn
