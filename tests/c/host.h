// A host as a plugin's author has one: its own instance and device by plain Vulkan, with no feature
// beyond those that a test asks for, and counters of what Firn does to them.
#pragma once
#include <gtest/gtest.h>
#include <vulkan/vulkan.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/c/firn.h"

namespace firn {

/// Calls that went through the host's loader function.
struct HostCounts {
    int submits = 0, waits = 0, device_waits = 0, locks = 0, unlocked_submits = 0;
    int made = 0, destroyed = 0;  // objects of Vulkan
    bool is_lost = false;         // from now on submissions find the device lost
    int allocations = 0;          // by the host's callbacks
};

class Host {
  public:
    /// `features`: the chain of VkDeviceCreateInfo::pNext.
    /// `validated`: by the layers, which allocate memory whenever they are called.
    explicit Host(const void* features = nullptr, std::vector<const char*> extensions = {},
                  bool validated = true);
    ~Host();
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    /// What a plugin would tell Firn: everything, and the queue if `with_queue`.
    firn_host describe(bool with_queue) const;

    struct Memory {
        VkBuffer buffer = VK_NULL_HANDLE;
        VkDeviceMemory memory = VK_NULL_HANDLE;
        uint64_t bytes = 0;
        VkBufferUsageFlags usage = 0;
        float* floats = nullptr;
    };
    /// Memory that the host sees.
    Memory buffer(uint64_t bytes, VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT);
    void free(Memory& memory);
    struct Picture {
        VkImage image = VK_NULL_HANDLE;
        VkDeviceMemory memory = VK_NULL_HANDLE;
    };
    /// An image for copies, in no layout.
    Picture picture(VkFormat format, uint32_t width, uint32_t height, VkImageUsageFlags usage);
    void free(Picture& picture);
    /// Copies all pixels of an image to or from memory, and leaves it in a layout.
    void copy(const Picture& picture, uint32_t width, uint32_t height, const Memory& memory,
              bool to_image, VkImageLayout before, VkImageLayout after);
    /// Begins the host's command buffer, and runs it to its end.
    VkCommandBuffer begin();
    void run();

    VkInstance instance = VK_NULL_HANDLE;
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    VkDevice device = VK_NULL_HANDLE;
    VkQueue queue = VK_NULL_HANDLE;
    uint32_t family = 0;
    std::vector<std::string> messages;  // of the validation layers

  private:
    const void* features_;
    std::vector<const char*> extensions_;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

/// The counters are those of all hosts, since the callbacks are plain functions.
HostCounts& host_counts();
const VkAllocationCallbacks* counting_allocator();

}  // namespace firn
