// Reads the compiler's profile of a physical device from the driver.
#pragma once
#include <memory>
#include <string>

#include "compiler/program/device_profile.h"
#include "engine/gpu/device_extensions.h"
#include "engine/gpu/instance.h"

namespace firn {

class Device;

/// The features that Firn uses where a device has them, as the chain that vkCreateDevice takes.
/// Not copyable: the structs point at each other.
struct DeviceFeatures {
    VkPhysicalDeviceShaderAtomicFloatFeaturesEXT float_atomics{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT};
    VkPhysicalDeviceSubgroupSizeControlFeaturesEXT subgroup_sizes{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT};
    VkPhysicalDeviceCooperativeMatrixFeaturesNV matrices{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV};
    VkPhysicalDeviceVulkan12Features vulkan12{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceVulkan11Features vulkan11{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
    VkPhysicalDeviceFeatures2 core{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};

    bool has_subgroup_sizes = false;  // the driver tells the smallest and the largest

    /// Queries the features of `device` and keeps only those that Firn uses.
    DeviceFeatures(const InstanceTable& vk, VkPhysicalDevice device, const DeviceExtensions& used);
    /// Takes those that a host states, as far as its extensions or its version allow them.
    DeviceFeatures(const InstanceTable& vk, VkPhysicalDevice device, const HostDevice& host);
    DeviceFeatures(const DeviceFeatures&) = delete;
    DeviceFeatures& operator=(const DeviceFeatures&) = delete;

  private:
    void keep_used();
};

/// Limits and features of a device, with rates by its class; `max_back_edges` is that of its class,
/// and `view_loads` says whether the device could.
DeviceProfile query_profile(const InstanceTable& vk, const DeviceInfo& info,
                            const DeviceFeatures& features);

/// Returns a text that changes with the device and its driver: part of the keys of its cached data.
std::string driver_key(const InstanceTable& vk, VkPhysicalDevice device);

// Each of the following keeps its answer per driver. Where a device may not be probed
// (HostDevice::may_probe) and none is kept, it is the one that promises less.

/// Runs a loop of 70,000 iterations, and returns after how many the driver stopped it; 0: it did
/// not. Some CPU drivers silently end every invocation that long, so that longer loops must be
/// split.
uint32_t probe_back_edges(const std::shared_ptr<Device>& device,
                          const std::string& cache_directory);
/// Lets the lanes of a group of one row exchange values, and returns whether the numbers of
/// subgroups and lanes count every invocation once, and match the lanes of exchanges. Kernels use
/// nothing else of a driver's numbering (compiler/target/glsl/subgroups.h).
bool probe_subgroup_numbers(const std::shared_ptr<Device>& device,
                            const std::string& cache_directory);
/// Compares 64-bit integers that were 32-bit ones with constants, and returns whether the driver
/// gives the right answers. The result is kept per driver.
bool probe_widened_integers(const std::shared_ptr<Device>& device,
                            const std::string& cache_directory);

/// Divides floats and takes their roots, and returns whether the driver rounds them as IEEE 754
/// does. The result is kept per driver.
bool probe_rounding(const std::shared_ptr<Device>& device, const std::string& cache_directory);

/// Times loads through a texel view and from a storage buffer: true where the view is much faster.
bool probe_texel_rate(const std::shared_ptr<Device>& device, const std::string& cache_directory);

}  // namespace firn
