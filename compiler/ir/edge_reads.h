// Reads of a kernel by hand by invocations whose index is outside of the tensor.
#pragma once
#include <unordered_map>

#include "compiler/ir/regions.h"

namespace firn {

/// Every invocation that uses what the read (a Gather of the kernel at indices of its own) gives
/// has read at exactly these indices. An invocation beyond the tensor's end, such as one that fills
/// up a group, reads at the edge (or wrapped), which is another invocation's element: false where
/// there may be one, unless all that it computes from it is stored outside, that is dropped.
///
/// `own`: the nodes of the kernel's body. `root`: of every version of an array or tensor, which
/// Array or argument of the kernel it is a version of.
bool uses_only_own(const Node& kernel, const OwnNodes& own,
                   const std::unordered_map<const Node*, const Node*>& root, const Node& read);

}  // namespace firn
