// A host that calls Vulkan through the loader's prototypes: Firn's own Vulkan must not get in the
// way.
#include <vulkan/vulkan.h>

bool vulkan_answers() {
    uint32_t version = 0;
    return vkEnumerateInstanceVersion(&version) == VK_SUCCESS && version >= VK_API_VERSION_1_0;
}
