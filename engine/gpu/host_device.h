// A Vulkan device that a host made, as the host describes it, for Device::adopt.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/program/device_profile.h"
// A host that has included Vulkan's headers itself keeps those.
#ifndef VULKAN_CORE_H_
#include "engine/gpu/vulkan.h"
#endif

namespace firn {

/// The handles of a host, and what the host states about them. Firn uses no feature and no
/// extension that is not stated here, whatever the driver supports. The handles outlive the Device.
struct HostDevice {
    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    /// The loader's function, by which all other functions are found.
    PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;
    /// VkApplicationInfo::apiVersion of the instance: at least 1.2.
    uint32_t api_version = 0;
    /// Names of the extensions that the instance and the device were made with.
    std::vector<std::string> instance_extensions, extensions;
    /// The features that the device was made with, as the chain of VkDeviceCreateInfo::pNext, which
    /// begins anywhere; read by `adopt` alone. Null: none beyond `core_features`.
    const void* features = nullptr;
    /// VkDeviceCreateInfo::pEnabledFeatures; null: none, or in the chain. Read by `adopt` alone.
    const VkPhysicalDeviceFeatures* core_features = nullptr;
    /// The queue on which Firn may submit. Null: it submits nothing, and its commands run in
    /// command buffers of the host alone.
    VkQueue queue = VK_NULL_HANDLE;
    uint32_t queue_family = 0;
    /// Called around every use of the queue; empty: nobody else uses it.
    std::function<void()> lock_queue, unlock_queue;
    /// For all Vulkan objects that Firn makes; null: those of the driver. A copy is kept.
    const VkAllocationCallbacks* allocator = nullptr;
    /// The cache for pipelines; null: one of Firn's own.
    VkPipelineCache pipeline_cache = VK_NULL_HANDLE;
    /// The folder in which Firn keeps pipelines and answers of drivers; empty: none.
    std::string cache_directory;
    /// Firn may run small kernels on the queue once for each driver, to see whether it computes
    /// right. Else it does without what only such a kernel could show, unless the folder
    /// has the answer: subgroups that exchange values, a matrix unit, quotients as they are.
    bool may_probe = false;
    /// See DeviceOptions::limit.
    std::function<DeviceProfile(const DeviceProfile&)> limit;
};

}  // namespace firn
