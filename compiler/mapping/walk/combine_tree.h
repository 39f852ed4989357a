// Many terms of one reduction, combined two at a time.
#pragma once
#include <vector>

#include "compiler/kernel/kernel_builder.h"

namespace firn {

/// The terms combined by `step` in a balanced tree, which waits for few steps. There is a term.
NodeId combine_tree(KernelBuilder& b, KernelOp step, DType dtype, std::vector<NodeId> terms);

}  // namespace firn
