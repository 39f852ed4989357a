// Loops that stand in sequence in one kernel.
#pragma once
#include <set>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Returns the For nodes to emit inside a loop of one iteration each, for a driver that counts the
/// iterations of an invocation: one in every so many in sequence; none for other devices. The count
/// goes through all loops in sequence, and LLVM follows it through all of them from each one, which
/// takes a time that grows with the third power of their number. LLVM gives up at a loop with loops
/// inside and at a barrier, and a new chain begins there.
std::set<NodeId> loops_apart(const KernelCode& code, const DeviceProfile& profile);

}  // namespace firn
