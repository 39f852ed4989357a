// Stage 4: values in memory get buffers, and kernels that compute them.
#pragma once
#include "compiler/kernel/kernel_list.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// Returns every kernel of the schedule as the walk writes it (Lowered), with copies and loops in
/// the order in which they run; and their program, with its arguments, buffers and results. Decides
/// which values share a buffer, because kernels name buffers: a version of a tensor is made in
/// place if the one before has no other use, and carried values rotate. Throws UserError if a
/// loop's bounds are not known to the host.
KernelList lower_graph(const Graph& graph, const Schedule& schedule, const DeviceProfile& profile,
                       const SymbolFacts& facts);

}  // namespace firn
