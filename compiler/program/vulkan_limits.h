// The limits and features that all devices of Vulkan 1.2 have: for the target that writes kernels
// for them, and for the engine that runs these.
#pragma once
#include "compiler/program/device_profile.h"

namespace firn {

/// The profile with no more than Vulkan 1.2 guarantees of every limit and feature that a kernel can
/// do without.
DeviceProfile least(DeviceProfile profile);

/// A device with no more than that: kernels for it run on all devices of Vulkan 1.2, whatever
/// features they were made with, and bind storage buffers alone.
DeviceProfile least_profile();

/// A multiple of the alignments for offsets of bindings that devices may ask for.
inline constexpr uint32_t kLeastAlignment = 256;

}  // namespace firn
