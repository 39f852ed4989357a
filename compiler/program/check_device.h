// Checks whether a device can run a program that was compiled for another.
#pragma once
#include <span>

#include "compiler/program/program.h"

namespace firn {

/// Throws UserError that names the first limit or feature which the program's kernels use and this
/// device lacks. The device need not be the one that the program was compiled for if it has all
/// that the kernels use. The sizes and offsets of tensors are checked when they are bound.
void check_device(const Program& program, const DeviceProfile& device);
/// Checks the requirements of one kernel.
void check_kernel(const KernelInfo& kernel, const DeviceProfile& device);

/// The module declares operations over the lanes of a subgroup.
bool uses_subgroups(std::span<const uint32_t> spirv);

}  // namespace firn
