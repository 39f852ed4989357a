// Nests of loops that run as one loop, with an index for each.
#pragma once
#include <cstddef>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

struct MappingRun;

/// A loop (a For node of the lowered kernel) and those inside that run as one with it, outermost
/// first. What is unrolled completely stays inside.
std::vector<int> joined_nest(MappingRun& run, int loop, size_t copy);

/// Some nest of loops had better run as one: with what it carries, entering a loop is dear on a CPU
/// driver, which copies all of it under a mask. What stood between the loops is computed in every
/// iteration then, so it is index arithmetic alone, and the inner loop is not long.
bool collapses_nests(KernelCode ready, const DeviceProfile& profile, int64_t carried,
                     int64_t iterations_at_once);

}  // namespace firn
