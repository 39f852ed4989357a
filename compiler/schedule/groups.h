// Decides which materialised values share a kernel, and the order of kernels and host loops.
#pragma once
#include <vector>

#include "compiler/schedule/draft.h"

namespace firn {

/// Returns the steps of the whole program, by the verdicts of the last round, in an order in which
/// each step comes after what it needs. Values with one grid join one kernel unless a dependency, a
/// binding or a body that grows too long forbids it. A value that only the outputs of its own
/// kernel read, each at its own index, then leaves memory: its verdict changes.
std::vector<ScheduleItem> group_into_kernels(Draft& draft);

}  // namespace firn
