// Bounds and congruences of integer nodes, from those of their operands.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Where an elementwise i32 node lies.
Interval interval_of(const KernelCode& code, const KernelNode& n);

}  // namespace firn
