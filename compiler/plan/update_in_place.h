// Carried values that loops of kernels write over.
#pragma once
#include "compiler/kernel/kernel_list.h"

namespace firn {

/// The next value of one that a loop carries lies in the buffer that the iteration is done with,
/// where nobody can see the difference (write_over.h): what only adds to its old value, say, or the
/// oldest of several states. Those buffers rotate no more, or over fewer. Requires: kernels are
/// Placed, and emitted with the buffers that they name. Ensures: the same values. Before
/// reuse_arguments, which leaves buffers that rotate alone, and before kernels become sequences.
void update_in_place(KernelList& list);

}  // namespace firn
