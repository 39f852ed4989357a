// Orders the values of long straight-line regions.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Reorders regions of many values in placed code so that independent chains of operations stand
/// side by side, if a region keeps a core waiting because the values that stand close together form
/// one chain. Others are left as they are. Post-condition: every KernelRegion::order has the same
/// nodes, operands first. For classes whose compiler keeps this order (ClassRules::keeps_order),
/// and a core looks a few hundred operations ahead.
void order_values(KernelCode& code);

}  // namespace firn
