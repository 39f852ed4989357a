// The device extensions that Firn uses where a device has them: each is named here alone.
#pragma once
#include <string>
#include <vector>

#include "engine/gpu/vulkan.h"

namespace firn {

struct DeviceExtensions {
    bool float_atomics = false, subgroup_sizes = false, matrices = false;
    bool memory_budget = false;
    bool portability_subset = false;  // a device that has it wants it enabled
    bool swapchain = false;           // of a device whose windows are shown
};

/// The names of the extensions that a physical device has.
std::vector<std::string> names_of_extensions(const InstanceTable& vk, VkPhysicalDevice device);
/// Those that are among these names.
DeviceExtensions extensions_among(const std::vector<std::string>& names);
/// The names of the used ones, for vkCreateDevice.
std::vector<const char*> names_of(const DeviceExtensions& used);

}  // namespace firn
