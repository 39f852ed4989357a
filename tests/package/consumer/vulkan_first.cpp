// A host that includes Vulkan, then Firn: its calls must reach the loader.
// clang-format off
#include <vulkan/vulkan.h>
#include <firn/firn.h>
// clang-format on

bool loader_answers_vulkan_first() {
    uint32_t version = 0;
    return vkEnumerateInstanceVersion(&version) == VK_SUCCESS && version >= VK_API_VERSION_1_0;
}
