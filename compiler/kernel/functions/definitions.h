// The definition of each function, as nodes that it appends to a kernel.
#pragma once
#include "compiler/kernel/functions/kernel_value.h"

namespace firn::definition {

/// Each appends its value to the kernel that x stands in. `functions.def` has their errors and what
/// they give at the ends of the range.
/// @{
#define FUNCTION_OF_ONE(op, type, name, ulps) KernelValue name(KernelValue x);
#define FUNCTION_OF_TWO(op, type, name, ulps) KernelValue name(KernelValue x, KernelValue y);
#include "compiler/kernel/functions/functions.def"
/// @}

}  // namespace firn::definition
