// The Vulkan headers as the engine uses them: no prototypes, functions in tables of their own,
// results checked.
#pragma once
#include <volk.h>

#include <new>
#include <string>
#include <string_view>

#include "compiler/base/error.h"

namespace firn {

/// Functions of one instance. Never volk's global pointers: they serve one instance per process
/// only.
#define FIRN_INSTANCE_FUNCTIONS(X)              \
    X(vkDestroyInstance)                        \
    X(vkEnumeratePhysicalDevices)               \
    X(vkGetPhysicalDeviceProperties2)           \
    X(vkGetPhysicalDeviceFeatures2)             \
    X(vkGetPhysicalDeviceMemoryProperties)      \
    X(vkGetPhysicalDeviceMemoryProperties2)     \
    X(vkGetPhysicalDeviceFormatProperties)      \
    X(vkGetPhysicalDeviceQueueFamilyProperties) \
    X(vkEnumerateDeviceExtensionProperties)     \
    X(vkCreateDevice)                           \
    X(vkGetDeviceProcAddr)
/// Present only when the instance has the extension; null otherwise.
#define FIRN_INSTANCE_EXTENSION_FUNCTIONS(X)     \
    X(vkCreateDebugUtilsMessengerEXT)            \
    X(vkDestroyDebugUtilsMessengerEXT)           \
    X(vkSetDebugUtilsObjectNameEXT)              \
    X(vkCmdBeginDebugUtilsLabelEXT)              \
    X(vkCmdEndDebugUtilsLabelEXT)                \
    X(vkDestroySurfaceKHR)                       \
    X(vkGetPhysicalDeviceSurfaceSupportKHR)      \
    X(vkGetPhysicalDeviceSurfaceCapabilitiesKHR) \
    X(vkGetPhysicalDeviceSurfaceFormatsKHR)      \
    X(vkGetPhysicalDeviceSurfacePresentModesKHR) \
    X(vkGetPhysicalDeviceCooperativeMatrixPropertiesNV)

/// Functions of a device that kernels and copies take, all of Vulkan 1.2 and older. The windows of
/// Firn's own devices use more.
#define FIRN_DEVICE_FUNCTIONS(X)     \
    X(vkAllocateCommandBuffers)      \
    X(vkAllocateDescriptorSets)      \
    X(vkAllocateMemory)              \
    X(vkBeginCommandBuffer)          \
    X(vkBindBufferMemory)            \
    X(vkCmdBindDescriptorSets)       \
    X(vkCmdBindPipeline)             \
    X(vkCmdCopyBuffer)               \
    X(vkCmdCopyBufferToImage)        \
    X(vkCmdCopyImageToBuffer)        \
    X(vkCmdDispatch)                 \
    X(vkCmdDispatchIndirect)         \
    X(vkCmdFillBuffer)               \
    X(vkCmdPipelineBarrier)          \
    X(vkCmdPushConstants)            \
    X(vkCmdResetQueryPool)           \
    X(vkCmdUpdateBuffer)             \
    X(vkCmdWriteTimestamp)           \
    X(vkCreateBuffer)                \
    X(vkCreateBufferView)            \
    X(vkCreateCommandPool)           \
    X(vkCreateComputePipelines)      \
    X(vkCreateDescriptorPool)        \
    X(vkCreateDescriptorSetLayout)   \
    X(vkCreateFence)                 \
    X(vkCreatePipelineCache)         \
    X(vkCreatePipelineLayout)        \
    X(vkCreateQueryPool)             \
    X(vkCreateSemaphore)             \
    X(vkCreateShaderModule)          \
    X(vkDestroyBuffer)               \
    X(vkDestroyBufferView)           \
    X(vkDestroyCommandPool)          \
    X(vkDestroyDescriptorPool)       \
    X(vkDestroyDescriptorSetLayout)  \
    X(vkDestroyFence)                \
    X(vkDestroyPipeline)             \
    X(vkDestroyPipelineCache)        \
    X(vkDestroyPipelineLayout)       \
    X(vkDestroyQueryPool)            \
    X(vkDestroySemaphore)            \
    X(vkDestroyShaderModule)         \
    X(vkEndCommandBuffer)            \
    X(vkFreeMemory)                  \
    X(vkGetBufferDeviceAddress)      \
    X(vkGetBufferMemoryRequirements) \
    X(vkGetFenceStatus)              \
    X(vkGetPipelineCacheData)        \
    X(vkGetQueryPoolResults)         \
    X(vkGetSemaphoreCounterValue)    \
    X(vkMapMemory)                   \
    X(vkMergePipelineCaches)         \
    X(vkQueueSubmit)                 \
    X(vkResetCommandBuffer)          \
    X(vkResetFences)                 \
    X(vkUpdateDescriptorSets)        \
    X(vkWaitForFences)               \
    X(vkWaitSemaphores)

struct InstanceTable {
#define FIRN_MEMBER(name) PFN_##name name = nullptr;
    FIRN_INSTANCE_FUNCTIONS(FIRN_MEMBER)
    FIRN_INSTANCE_EXTENSION_FUNCTIONS(FIRN_MEMBER)
#undef FIRN_MEMBER
};

/// `VK_ERROR_DEVICE_LOST`.
std::string result_name(VkResult result);

/// Throws DeviceError with call, result and object unless `result` is VK_SUCCESS; in every build.
/// check(vk.vkCreateBuffer(...), "vkCreateBuffer", name);
void check(VkResult result, const char* call, std::string_view object);

/// Returns the result of `work`; if host memory runs out in it, throws a DeviceError, as for the
/// device's memory. within_memory("reading", name, [&] { ... });
template <class Work>
auto within_memory(const char* what, const std::string& name, Work work) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        throw DeviceError("out of host memory: " + (what + (" '" + name)) +
                          "' was not done; release tensors or use smaller ones");
    }
}

}  // namespace firn
