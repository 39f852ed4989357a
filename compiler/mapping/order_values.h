// In which order the values of long straight regions are computed.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Of placed code: where a region of many values keeps a core waiting, because what stands close
/// together is one chain, chains that do not wait for one another come to stand side by side.
/// Others are left as they are. Post-condition: every KernelRegion::order has the same nodes,
/// operands first. For drivers that run shaders on the CPU: their code keeps this order, and a core
/// looks a few hundred operations ahead.
void order_values(KernelCode& code);

}  // namespace firn
