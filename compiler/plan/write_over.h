// Buffers of a list that may be one.
#pragma once
#include <vector>

#include "compiler/kernel/kernel_list.h"

namespace firn {

/// A loop of the steps rotates the buffer, or ends by it.
bool in_rotation(const std::vector<ListedStep>& steps, int buffer);
/// The step names the buffer.
bool uses(const ListedStep& step, int buffer);
/// The step, which is the last to read the buffer `old` and the first to write `made`, gives the
/// same where both are one: it copies the one into the other, or is a kernel in which every
/// invocation reads only the elements that it then writes, for every mapping of its points. Kernels
/// are Placed.
bool may_write_over(const ListedStep& step, int old, int made);
/// Steps name the buffer `to` instead of `from`.
void rename(std::vector<ListedStep>& steps, int from, int to);

}  // namespace firn
