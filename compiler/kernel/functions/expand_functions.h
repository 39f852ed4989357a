// Replaces functions of a kernel by their definitions.
#pragma once
#include <functional>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Replaces every function with a definition of which `is_basic` (operation, type) is false by its
/// definition: a target that has no such function compiles the kernel behind it. Functions of f16
/// and bf16 are computed in f32 and rounded. Requires: placed code. Ensures: placed code with the
/// same values and effects in the same order; a definition stands where its function did.
void expand_functions(KernelCode& code, const std::function<bool(KernelOp, DType)>& is_basic);

}  // namespace firn
