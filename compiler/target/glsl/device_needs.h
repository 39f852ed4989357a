// Counts from its code which features of a device a kernel needs.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"
#include "compiler/program/program.h"

namespace firn {

/// Returns the features without which a kernel that is made for `profile` cannot run, or gives
/// other results. Takes placed code.
DeviceNeeds needs_of(const KernelCode& code, const DeviceProfile& profile);

/// Returns whether the lanes of a subgroup exchange values. Takes placed code.
bool uses_lanes(const KernelCode& code);

}  // namespace firn
