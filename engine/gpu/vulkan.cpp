// Names of Vulkan results, and volk itself.
#define VOLK_IMPLEMENTATION
#include "engine/gpu/vulkan.h"

namespace firn {

std::string result_name(VkResult result) {
    switch (result) {
#define FIRN_RESULT(name) \
    case name: return #name;
        FIRN_RESULT(VK_SUCCESS)
        FIRN_RESULT(VK_NOT_READY)
        FIRN_RESULT(VK_TIMEOUT)
        FIRN_RESULT(VK_EVENT_SET)
        FIRN_RESULT(VK_EVENT_RESET)
        FIRN_RESULT(VK_INCOMPLETE)
        FIRN_RESULT(VK_ERROR_OUT_OF_HOST_MEMORY)
        FIRN_RESULT(VK_ERROR_OUT_OF_DEVICE_MEMORY)
        FIRN_RESULT(VK_ERROR_INITIALIZATION_FAILED)
        FIRN_RESULT(VK_ERROR_DEVICE_LOST)
        FIRN_RESULT(VK_ERROR_MEMORY_MAP_FAILED)
        FIRN_RESULT(VK_ERROR_LAYER_NOT_PRESENT)
        FIRN_RESULT(VK_ERROR_EXTENSION_NOT_PRESENT)
        FIRN_RESULT(VK_ERROR_FEATURE_NOT_PRESENT)
        FIRN_RESULT(VK_ERROR_INCOMPATIBLE_DRIVER)
        FIRN_RESULT(VK_ERROR_TOO_MANY_OBJECTS)
        FIRN_RESULT(VK_ERROR_FORMAT_NOT_SUPPORTED)
        FIRN_RESULT(VK_ERROR_FRAGMENTED_POOL)
        FIRN_RESULT(VK_ERROR_UNKNOWN)
        FIRN_RESULT(VK_ERROR_OUT_OF_POOL_MEMORY)
        FIRN_RESULT(VK_ERROR_INVALID_EXTERNAL_HANDLE)
        FIRN_RESULT(VK_ERROR_FRAGMENTATION)
        FIRN_RESULT(VK_ERROR_SURFACE_LOST_KHR)
        FIRN_RESULT(VK_ERROR_NATIVE_WINDOW_IN_USE_KHR)
        FIRN_RESULT(VK_SUBOPTIMAL_KHR)
        FIRN_RESULT(VK_ERROR_OUT_OF_DATE_KHR)
        FIRN_RESULT(VK_ERROR_VALIDATION_FAILED_EXT)
        FIRN_RESULT(VK_ERROR_INVALID_SHADER_NV)
#undef FIRN_RESULT
        default: return "VkResult " + std::to_string(static_cast<int>(result));
    }
}

void check(VkResult result, const char* call, std::string_view object) {
    if (result == VK_SUCCESS) return;
    throw DeviceError(std::string(call) + " for " + std::string(object) +
                      " failed: " + result_name(result));
}

}  // namespace firn
