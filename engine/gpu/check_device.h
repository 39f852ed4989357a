// Checks whether a Vulkan device can run a program that was compiled for another.
#pragma once
#include <span>

#include "compiler/program/program.h"

namespace firn {

/// Throws UserError that names the first limit or feature which the program's kernels use and this
/// device lacks. The device need not be the one that the program was compiled for if it has all
/// that the kernels use. The sizes and offsets of tensors are checked when they are bound.
/// `needs`: of each kernel; an executor finds out those that a kernel does not state
/// (DeviceNeeds::known).
void check_device(const Program& program, std::span<const DeviceNeeds> needs,
                  const DeviceProfile& device);
/// The same with the needs that the kernels state.
void check_device(const Program& program, const DeviceProfile& device);
/// Checks the requirements of one kernel.
void check_kernel(const KernelInfo& kernel, const DeviceNeeds& needs, const DeviceProfile& device);

}  // namespace firn
