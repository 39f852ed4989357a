// Choices whose sides are dear become branches.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Selects by one condition become one Branch where what only one side needs costs more than a
/// branch does: place() then evaluates it inside. A GPU jumps over what no lane of a subgroup
/// takes. A CPU driver runs both sides under a mask, and saves the iterations of loops alone: a
/// loop that no lane enters ends at once. Where a register tile of the loops saves more than
/// passing them by, choices stay: a branch parts what a tile shares. Branches by one condition
/// become one, so that what their results share stays inside. Takes and gives lowered kernels,
/// before mapping. Not placed.
KernelCode select_branches(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
