// Writes results over donated arguments.
#pragma once
#include <vector>

#include "compiler/kernel/kernel_list.h"

namespace firn {

/// Puts results into the buffers of arguments with `donated` set, if that changes no value: the
/// argument has the result's type and size, and every step that reads it comes before the first
/// that writes the result; or that step copies the one into the other; or it is a kernel in which
/// every invocation reads only the elements that it then writes, for every mapping of its points. A
/// call that fails keeps its arguments, so nothing is written over them before the last loop that
/// may end it. Requires: kernels are Placed, and emitted with the buffers that they name. Ensures:
/// such a result names the argument's buffer. Runs before kernels become sequences, for which this
/// cannot be shown.
void reuse_arguments(KernelList& list, const std::vector<bool>& donated);

}  // namespace firn
