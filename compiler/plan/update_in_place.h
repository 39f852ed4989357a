// Carried values that loops of kernels write over.
#pragma once
#include "compiler/kernel/kernel_list.h"

namespace firn {

/// Puts a carried value's next value into a buffer that the iteration no longer needs, if that
/// changes no value (write_over.h): a value that is only added to, for example, or the oldest of
/// several states. Those buffers rotate no more, or over fewer. Requires: kernels are Placed, and
/// emitted with the buffers that they name. Ensures: the same values. Runs before reuse_arguments,
/// which leaves buffers that rotate alone, and before kernels become sequences.
void update_in_place(KernelList& list);

}  // namespace firn
