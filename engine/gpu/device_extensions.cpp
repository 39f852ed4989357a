// The device extensions that Firn uses where a device has them.
#include "engine/gpu/device_extensions.h"

#include <algorithm>

namespace firn {
namespace {

struct Row {
    const char* name;
    bool DeviceExtensions::*is_used;
};
constexpr Row kRows[] = {
    {"VK_EXT_shader_atomic_float", &DeviceExtensions::float_atomics},
    {"VK_EXT_subgroup_size_control", &DeviceExtensions::subgroup_sizes},
    {"VK_NV_cooperative_matrix", &DeviceExtensions::matrices},
    {"VK_EXT_memory_budget", &DeviceExtensions::memory_budget},
    {"VK_KHR_portability_subset", &DeviceExtensions::portability_subset},
    {"VK_KHR_swapchain", &DeviceExtensions::swapchain},
};

}  // namespace

std::vector<std::string> names_of_extensions(const InstanceTable& vk, VkPhysicalDevice device) {
    uint32_t count = 0;
    check(vk.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr),
          "vkEnumerateDeviceExtensionProperties", "the device");
    std::vector<VkExtensionProperties> found(count);
    check(vk.vkEnumerateDeviceExtensionProperties(device, nullptr, &count, found.data()),
          "vkEnumerateDeviceExtensionProperties", "the device");
    std::vector<std::string> names;
    for (uint32_t i = 0; i < count; ++i) names.push_back(found[i].extensionName);
    return names;
}

DeviceExtensions extensions_among(const std::vector<std::string>& names) {
    DeviceExtensions out;
    for (const Row& row : kRows)
        out.*row.is_used = std::find(names.begin(), names.end(), row.name) != names.end();
    return out;
}

std::vector<const char*> names_of(const DeviceExtensions& used) {
    std::vector<const char*> names;
    for (const Row& row : kRows)
        if (used.*row.is_used) names.push_back(row.name);
    return names;
}

}  // namespace firn
