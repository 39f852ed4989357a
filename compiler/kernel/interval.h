// Intervals and congruences of integer nodes, from those of their operands.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Writes where an elementwise i32 node lies, and what it is modulo what.
void bound(const KernelCode& code, KernelNode& n);

}  // namespace firn
