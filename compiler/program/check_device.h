// Whether a device can run a program that was compiled for another.
#pragma once
#include <span>

#include "compiler/program/program.h"

namespace firn {

/// Throws UserError that names the first limit or feature which the program's kernels use and this
/// device lacks. It may be another device than the program was compiled for, where all that the
/// kernels use is there. How large tensors may be, and where
/// they may begin, is checked when they are bound.
void check_device(const Program& program, const DeviceProfile& device);
/// The same for what a kernel says by itself.
void check_kernel(const KernelInfo& kernel, const DeviceProfile& device);

/// The module declares operations over the lanes of a subgroup.
bool uses_subgroups(std::span<const uint32_t> spirv);

}  // namespace firn
