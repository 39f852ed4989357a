// Stand-in of Unity's header of this name: of the published interface, what the plugin uses, and
// where members that it does not use lie.
#pragma once

#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>

#include "IUnityGraphics.h"

struct UnityVulkanInstance {
    VkPipelineCache pipelineCache;
    VkInstance instance;
    VkPhysicalDevice physicalDevice;
    VkDevice device;
    VkQueue graphicsQueue;
    PFN_vkGetInstanceProcAddr getInstanceProcAddr;
    unsigned int queueFamilyIndex;
    void* reserved[8];
};

struct UnityVulkanMemory {
    VkDeviceMemory memory;
    VkDeviceSize offset, size;
    void* mapped;
    VkMemoryPropertyFlags flags;
    unsigned int memoryTypeIndex;
    void* reserved[4];
};

enum UnityVulkanResourceAccessMode {
    kUnityVulkanResourceAccess_ObserveOnly,
    kUnityVulkanResourceAccess_PipelineBarrier,
    kUnityVulkanResourceAccess_Recreate
};

struct UnityVulkanImage {
    UnityVulkanMemory memory;
    VkImage image;
    VkImageLayout layout;
    VkImageAspectFlags aspect;
    VkImageUsageFlags usage;
    VkFormat format;
    VkExtent3D extent;
    VkImageTiling tiling;
    VkImageType type;
    VkSampleCountFlagBits samples;
    int layers, mipCount;
    void* reserved[4];
};

struct UnityVulkanBuffer {
    UnityVulkanMemory memory;
    VkBuffer buffer;
    size_t sizeInBytes;
    VkBufferUsageFlags usage;
    void* reserved[4];
};

struct UnityVulkanRecordingState {
    VkCommandBuffer commandBuffer;
    VkCommandBufferLevel commandBufferLevel;
    VkRenderPass renderPass;
    VkFramebuffer framebuffer;
    int subPassIndex;
    unsigned long long currentFrameNumber, safeFrameNumber;
    void* reserved[4];
};

enum UnityVulkanEventRenderPassPreCondition {
    kUnityVulkanRenderPass_DontCare,
    kUnityVulkanRenderPass_EnsureInside,
    kUnityVulkanRenderPass_EnsureOutside
};

enum UnityVulkanGraphicsQueueAccess {
    kUnityVulkanGraphicsQueueAccess_DontCare,
    kUnityVulkanGraphicsQueueAccess_Allow
};

enum UnityVulkanEventConfigFlagBits {
    kUnityVulkanEventConfigFlag_EnsurePreviousFrameSubmission = 1,
    kUnityVulkanEventConfigFlag_FlushCommandBuffers = 2,
    kUnityVulkanEventConfigFlag_SyncWorkerThreads = 4,
    kUnityVulkanEventConfigFlag_ModifiesCommandBuffersState = 8
};

struct UnityVulkanPluginEventConfig {
    UnityVulkanEventRenderPassPreCondition renderPassPrecondition;
    UnityVulkanGraphicsQueueAccess graphicsQueueAccess;
    uint32_t flags;
};

const VkImageSubresource* const UnityVulkanWholeImage = NULL;

struct IUnityGraphicsVulkan : IUnityInterface {
    void (*InterceptInitialization)();
    void (*InterceptVulkanAPI)();
    void(UNITY_INTERFACE_API* ConfigureEvent)(int event,
                                              const UnityVulkanPluginEventConfig* config);
    UnityVulkanInstance(UNITY_INTERFACE_API* Instance)();
    bool(UNITY_INTERFACE_API* CommandRecordingState)(UnityVulkanRecordingState* state,
                                                     UnityVulkanGraphicsQueueAccess access);
    bool(UNITY_INTERFACE_API* AccessTexture)(void* texture, const VkImageSubresource* part,
                                             VkImageLayout layout, VkPipelineStageFlags stages,
                                             VkAccessFlags access,
                                             UnityVulkanResourceAccessMode mode,
                                             UnityVulkanImage* image);
    void (*AccessRenderBufferTexture)();
    void (*AccessRenderBufferResolveTexture)();
    bool(UNITY_INTERFACE_API* AccessBuffer)(void* native, VkPipelineStageFlags stages,
                                            VkAccessFlags access,
                                            UnityVulkanResourceAccessMode mode,
                                            UnityVulkanBuffer* buffer);
    void(UNITY_INTERFACE_API* EnsureOutsideRenderPass)();
    void(UNITY_INTERFACE_API* EnsureInsideRenderPass)();
    void(UNITY_INTERFACE_API* AccessQueue)(UnityRenderingEventAndData callback, int event,
                                           void* data, bool flush);
    void (*ConfigureSwapchain)();
    void (*AccessTextureByID)();
};

template <>
inline UnityInterfaceGUID GetUnityInterfaceGUID<IUnityGraphicsVulkan>() {
    return {0x95355348D4EF4E11ULL, 0x9789313DFCFFCC87ULL};
}
