// Finds reads in a kernel by hand by invocations whose index is outside of the tensor.
#pragma once
#include <unordered_map>

#include "compiler/ir/regions.h"

namespace firn {

/// Returns whether every invocation that uses the value of the read (a Gather of the kernel at
/// indices of its own) has read at exactly these indices. An invocation beyond the tensor's end,
/// such as one that fills up a group, reads at the edge (or wrapped), which is another invocation's
/// element: the result is false if there may be one, unless all values that it computes from the
/// element are stored outside, and so dropped.
///
/// `own`: the nodes of the kernel's body. `root`: for every version of an array or tensor, its
/// Array or argument of the kernel.
bool uses_only_own(const Node& kernel, const OwnNodes& own,
                   const std::unordered_map<const Node*, const Node*>& root, const Node& read);

}  // namespace firn
