// Stage 4: values in memory get buffers, and kernels that compute them.
#pragma once
#include "compiler/kernel/kernel_list.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// Every kernel of the schedule as the walk writes it (Lowered), with copies and loops in the order
/// in which they are to run; and the program that they are of, with its arguments, buffers and
/// results. Which values share a buffer is decided here, since kernels name buffers: a version of a
/// tensor is made in place where nobody needs the one before, and what a loop carries rotates.
/// Throws UserError where a loop's bounds are not known to the host.
KernelList lower_graph(const Graph& graph, const Schedule& schedule, const DeviceProfile& profile,
                       const SymbolFacts& facts);

}  // namespace firn
