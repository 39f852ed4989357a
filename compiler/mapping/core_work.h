// What the values of straight code take in a core of a CPU: for passes that decide where they
// stand.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Operations that a core begins for it.
double core_work(const KernelNode& n);
/// Cycles from its operands to its value.
double core_latency(const KernelNode& n);
/// It may stand anywhere behind its operands.
bool may_move(const KernelNode& n);

}  // namespace firn
