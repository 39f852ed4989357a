// The Vulkan device of the stand-ins of engines.
#define VOLK_IMPLEMENTATION  // the functions of volk are in this file
#include "gpu.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <vector>

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                                 VkDebugUtilsMessageTypeFlagsEXT,
                                                 const VkDebugUtilsMessengerCallbackDataEXT* data,
                                                 void* user) {
    ++static_cast<Gpu*>(user)->messages;
    std::fprintf(stderr, "validation: %s\n", data->pMessage);
    return VK_FALSE;
}

void stop(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    std::fputc('\n', stderr);
    va_end(arguments);
    std::exit(1);
}

void check(VkResult result, const char* what) {
    if (result < 0) stop("%s failed with the code %d", what, int(result));
}

void make_gpu(Gpu& gpu, const char* name) {
    if (volkInitialize() != VK_SUCCESS)
        stop("there is no Vulkan loader; install libvulkan1 and a driver");
    VkDebugUtilsMessengerCreateInfoEXT messenger{};
    messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                                VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    messenger.pfnUserCallback = on_message;
    messenger.pUserData = &gpu;
    const VkValidationFeatureEnableEXT also =
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT validation{};
    validation.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
    validation.pNext = &messenger;
    validation.enabledValidationFeatureCount = 1;
    validation.pEnabledValidationFeatures = &also;
    const char *layer = "VK_LAYER_KHRONOS_validation",
               *extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.pApplicationName = name;
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo instance{};
    instance.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instance.pNext = &validation;
    instance.pApplicationInfo = &application;
    instance.enabledLayerCount = 1;
    instance.ppEnabledLayerNames = &layer;
    instance.enabledExtensionCount = 1;
    instance.ppEnabledExtensionNames = &extension;
    const VkResult made = vkCreateInstance(&instance, nullptr, &gpu.instance);
    if (made == VK_ERROR_LAYER_NOT_PRESENT)
        stop("there is no %s; install vulkan-validationlayers", layer);
    check(made, "vkCreateInstance");
    volkLoadInstanceOnly(gpu.instance);
    check(vkCreateDebugUtilsMessengerEXT(gpu.instance, &messenger, nullptr, &gpu.messenger),
          "vkCreateDebugUtilsMessengerEXT");

    uint32_t count = 1;
    vkEnumeratePhysicalDevices(gpu.instance, &count, &gpu.physical);
    if (count == 0) stop("there is no Vulkan device");
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(gpu.physical, &properties);
    if (properties.apiVersion < VK_API_VERSION_1_2)
        stop("the device %s is older than Vulkan 1.2", properties.deviceName);
    vkGetPhysicalDeviceQueueFamilyProperties(gpu.physical, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(gpu.physical, &count, families.data());
    const VkQueueFlags needed = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    while (gpu.queue_family < count && (families[gpu.queue_family].queueFlags & needed) != needed)
        ++gpu.queue_family;
    if (gpu.queue_family == count) stop("no queue of %s draws and computes", properties.deviceName);
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{};
    queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue.queueFamilyIndex = gpu.queue_family;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo device{};
    device.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    device.queueCreateInfoCount = 1;
    device.pQueueCreateInfos = &queue;
    check(vkCreateDevice(gpu.physical, &device, nullptr, &gpu.device), "vkCreateDevice");
    volkLoadDevice(gpu.device);
    vkGetDeviceQueue(gpu.device, gpu.queue_family, 0, &gpu.queue);
    std::printf("device: %s, without any feature\n", properties.deviceName);
}

int destroy_gpu(Gpu& gpu) {
    vkDestroyDevice(gpu.device, nullptr);
    vkDestroyDebugUtilsMessengerEXT(gpu.instance, gpu.messenger, nullptr);
    vkDestroyInstance(gpu.instance, nullptr);
    std::printf("%d messages of the validation layers\n", gpu.messages);
    return gpu.messages == 0 ? 0 : 1;
}

VkDeviceMemory allocate(Gpu& gpu, const VkMemoryRequirements& needed,
                        VkMemoryPropertyFlags properties) {
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(gpu.physical, &memory);
    for (uint32_t k = 0; k < memory.memoryTypeCount; ++k) {
        if (!(needed.memoryTypeBits >> k & 1) ||
            (memory.memoryTypes[k].propertyFlags & properties) != properties)
            continue;
        VkMemoryAllocateInfo info{};
        info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
        info.allocationSize = needed.size;
        info.memoryTypeIndex = k;
        VkDeviceMemory out;
        check(vkAllocateMemory(gpu.device, &info, nullptr, &out), "vkAllocateMemory");
        return out;
    }
    stop("the device has no memory of the kind that is needed");
}

GpuBuffer make_buffer(Gpu& gpu, VkDeviceSize bytes, VkBufferUsageFlags usage, bool visible) {
    GpuBuffer out;
    out.bytes = bytes;
    out.usage = usage;
    VkBufferCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = bytes;
    info.usage = usage;
    check(vkCreateBuffer(gpu.device, &info, nullptr, &out.buffer), "vkCreateBuffer");
    VkMemoryRequirements needed;
    vkGetBufferMemoryRequirements(gpu.device, out.buffer, &needed);
    out.memory = allocate(
        gpu, needed,
        visible ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
                : VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    check(vkBindBufferMemory(gpu.device, out.buffer, out.memory, 0), "vkBindBufferMemory");
    if (visible)
        check(vkMapMemory(gpu.device, out.memory, 0, VK_WHOLE_SIZE, 0, &out.data), "vkMapMemory");
    return out;
}

void destroy_buffer(Gpu& gpu, GpuBuffer& buffer) {
    vkDestroyBuffer(gpu.device, buffer.buffer, nullptr);
    vkFreeMemory(gpu.device, buffer.memory, nullptr);
    buffer = {};
}
