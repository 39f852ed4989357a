// Sizes that only the device knows: how a kernel takes them, and the kernel that computes them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// The sizes that a mapped kernel needs and only the device knows: parameters, in their order,
/// then, if its grid is one, the three group counts, clamped to the launch limits of the device.
struct NeededSizes {
    std::vector<Size> params, groups;
};
NeededSizes needed_sizes(const KernelCode& code, const DeviceProfile& profile);

/// Binds `buffer`, where they lie from element `at` on. Equal kernels stay equal: `at` is a
/// parameter.
void bind_sizes(KernelCode& code, int buffer, int64_t at);

/// A kernel of one invocation that stores `sizes` one after the other into the Program buffer
/// `target`. `counts`: the buffer of each data symbol's value. A value beyond the symbol's bounds
/// is cut to them.
KernelCode sizes_kernel(const std::vector<Size>& sizes, const std::map<std::string, int>& counts,
                        int target);

}  // namespace firn
