// The loads, stores and atomics of a kernel, numbered.
#pragma once
#include <vector>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Returns the Load, Store and Atomic nodes of placed code as its regions name them. Kernels of
/// equal structure give the same accesses in the same places, whatever the numbers of their nodes.
std::vector<NodeId> accesses_of(const KernelCode& code);

}  // namespace firn
