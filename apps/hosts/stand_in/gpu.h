// The Vulkan device of the stand-ins of engines: without any feature, watched by the validation
// layers.
#pragma once

#include <volk.h>

#include <cstdint>

struct Gpu {
    VkInstance instance = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    uint32_t queue_family = 0;
    int messages = 0;  // that the validation layers gave
};

/// Ends the process with a message, which printf formats.
[[noreturn]] void stop(const char* format, ...) __attribute__((format(printf, 1, 2)));
void check(VkResult result, const char* what);

/// The device has to stay where it is, since the validation layers write into it.
void make_gpu(Gpu& gpu, const char* name);
/// Destroys the device, where validation reports what was not destroyed before it, and prints how
/// many messages there were. Returns the exit code of the program: 0 without any message.
int destroy_gpu(Gpu& gpu);

VkDeviceMemory allocate(Gpu& gpu, const VkMemoryRequirements& needed,
                        VkMemoryPropertyFlags properties);

/// A buffer; `data` is where the host sees it, and null unless it is visible.
struct GpuBuffer {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkDeviceSize bytes = 0;
    VkBufferUsageFlags usage = 0;
    void* data = nullptr;
};
GpuBuffer make_buffer(Gpu& gpu, VkDeviceSize bytes, VkBufferUsageFlags usage, bool visible);
void destroy_buffer(Gpu& gpu, GpuBuffer& buffer);
