// Equal kernels that do not need each other run in one dispatch.
#pragma once
#include "compiler/kernel/kernel_list.h"
#include "compiler/mapping/list/list_passes.h"

namespace firn {

/// Launches equal kernels over several tensors (transforms of several fields, scans of several
/// rows) once: their different buffers become parts of one buffer, and each copy runs on the parts
/// of its number. Kernels are joined if nothing in between needs the first of them, and if their
/// launches are a good part of their time (kLongestShared); not if that would cost more barriers,
/// between kernels that fill parts of one buffer, than it saves launches. Kernels are Placed and
/// emitted; changed ones must be emitted again, and joined ones cannot be mapped again.
void share_dispatches(KernelList& list, const ListTarget& target);

}  // namespace firn
