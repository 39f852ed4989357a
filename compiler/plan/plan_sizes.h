// The sizes of a program that only the device knows: their places, and the kernels that compute
// them.
#pragma once
#include "compiler/kernel/kernel_list.h"

namespace firn {

/// Kernels that need such sizes read them from buffers, which kernels of one invocation fill: each
/// as soon as all is known that it computes from. Sizes that begin in the iterations of a loop, or
/// depend on which iteration it is, are computed in it. Requires: kernels are Placed. Ensures: the
/// list has no ListedSize.
void bind_list_sizes(KernelList& list, const DeviceProfile& profile);

}  // namespace firn
