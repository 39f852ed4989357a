// A host that includes Firn, then Vulkan: its calls must reach the loader.
#include <firn/firn.h>
#include <vulkan/vulkan.h>

bool loader_answers_firn_first() {
    uint32_t version = 0;
    return vkEnumerateInstanceVersion(&version) == VK_SUCCESS && version >= VK_API_VERSION_1_0;
}
