// Which materialised values share a kernel, and in which order kernels and host loops run.
#pragma once
#include <vector>

#include "compiler/schedule/draft.h"

namespace firn {

/// The steps of the whole program, by the verdicts of the last round, in an order in which each
/// step comes after what it needs. Values of one grid join one kernel where no dependency, binding
/// or body that grows too long forbids it; what only the outputs of its own kernel read, each at
/// its own index, then leaves memory: its verdict changes.
std::vector<ScheduleItem> group_into_kernels(Draft& draft);

}  // namespace firn
