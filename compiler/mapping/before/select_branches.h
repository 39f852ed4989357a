// Turns choices with expensive sides into branches.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/mapping/mapping.h"

namespace firn {

/// Makes selects by one condition one Branch if the work that only one side needs costs more than a
/// branch does; place() then evaluates it inside. A GPU skips a side that no lane of a subgroup
/// takes. A CPU driver runs both sides under a mask, and only saves the iterations of loops: a loop
/// that no lane enters ends at once. If a register tile of the loops saves more than skipping them,
/// choices stay, because a branch separates values that a tile shares. Branches by one condition
/// become one, so that values that their results share stay inside. Takes and gives lowered
/// kernels (not placed), before mapping.
KernelCode select_branches(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts,
                           ChooseMapping choose);

}  // namespace firn
