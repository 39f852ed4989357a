// Loops that stand in sequence in one kernel.
#pragma once
#include <set>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// The For nodes that a driver which counts the iterations of an invocation is given inside a loop
/// of one iteration each: every so many of those in sequence. The count goes through all loops in
/// sequence, and LLVM follows it through all of them from each one, which takes a time that grows
/// with the third power of their number. Where a loop has loops inside, and at a barrier, LLVM
/// gives up, and a new chain begins.
std::set<int> loops_apart(const KernelCode& code);

}  // namespace firn
