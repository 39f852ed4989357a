// A host as a plugin's author has one, with counters.
#include "tests/c/host.h"

#include <cstdlib>
#include <cstring>
#include <map>

namespace firn {
namespace {

PFN_vkGetDeviceProcAddr real_device_functions = nullptr;
std::map<std::string, PFN_vkVoidFunction>& real_functions() {
    static std::map<std::string, PFN_vkVoidFunction> functions;
    return functions;
}
template <class Function>
Function real(const char* name) {
    return reinterpret_cast<Function>(real_functions().at(name));
}

bool is_locked = false;

VKAPI_ATTR VkResult VKAPI_CALL count_submit(VkQueue queue, uint32_t count, const VkSubmitInfo* info,
                                            VkFence fence) {
    ++host_counts().submits;
    if (host_counts().is_lost) return VK_ERROR_DEVICE_LOST;
    if (!is_locked) ++host_counts().unlocked_submits;
    return real<PFN_vkQueueSubmit>("vkQueueSubmit")(queue, count, info, fence);
}
VKAPI_ATTR VkResult VKAPI_CALL count_wait_idle(VkDevice device) {
    ++host_counts().device_waits;
    return real<PFN_vkDeviceWaitIdle>("vkDeviceWaitIdle")(device);
}
VKAPI_ATTR VkResult VKAPI_CALL count_wait_fences(VkDevice device, uint32_t count,
                                                 const VkFence* fences, VkBool32 all,
                                                 uint64_t timeout) {
    ++host_counts().waits;
    return real<PFN_vkWaitForFences>("vkWaitForFences")(device, count, fences, all, timeout);
}
VKAPI_ATTR VkResult VKAPI_CALL count_wait_semaphores(VkDevice device,
                                                     const VkSemaphoreWaitInfo* info,
                                                     uint64_t timeout) {
    ++host_counts().waits;
    return real<PFN_vkWaitSemaphores>("vkWaitSemaphores")(device, info, timeout);
}
VKAPI_ATTR VkResult VKAPI_CALL count_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                            const VkAllocationCallbacks* allocator,
                                            VkBuffer* buffer) {
    ++host_counts().made;
    return real<PFN_vkCreateBuffer>("vkCreateBuffer")(device, info, allocator, buffer);
}
VKAPI_ATTR void VKAPI_CALL count_destroyed(VkDevice device, VkBuffer buffer,
                                           const VkAllocationCallbacks* allocator) {
    if (buffer) ++host_counts().destroyed;
    real<PFN_vkDestroyBuffer>("vkDestroyBuffer")(device, buffer, allocator);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_functions(VkDevice device, const char* name) {
    const PFN_vkVoidFunction function = real_device_functions(device, name);
    if (!function) return nullptr;
    real_functions()[name] = function;
    const auto is = [&](const char* other) { return std::strcmp(name, other) == 0; };
    if (is("vkQueueSubmit")) return reinterpret_cast<PFN_vkVoidFunction>(count_submit);
    if (is("vkDeviceWaitIdle")) return reinterpret_cast<PFN_vkVoidFunction>(count_wait_idle);
    if (is("vkWaitForFences")) return reinterpret_cast<PFN_vkVoidFunction>(count_wait_fences);
    if (is("vkWaitSemaphores")) return reinterpret_cast<PFN_vkVoidFunction>(count_wait_semaphores);
    if (is("vkCreateBuffer")) return reinterpret_cast<PFN_vkVoidFunction>(count_buffer);
    if (is("vkDestroyBuffer")) return reinterpret_cast<PFN_vkVoidFunction>(count_destroyed);
    return function;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_functions(VkInstance instance, const char* name) {
    const PFN_vkVoidFunction function = vkGetInstanceProcAddr(instance, name);
    if (std::strcmp(name, "vkGetDeviceProcAddr") != 0) return function;
    real_device_functions = reinterpret_cast<PFN_vkGetDeviceProcAddr>(function);
    return reinterpret_cast<PFN_vkVoidFunction>(device_functions);
}

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                          VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data,
                                          void* host) {
    static_cast<Host*>(host)->messages.push_back(data->pMessage);
    return VK_FALSE;
}

void check(VkResult result) {
    if (result != VK_SUCCESS) {
        ADD_FAILURE() << "Vulkan returned " << result << " to the host";
        std::abort();
    }
}

void lock(void*) {
    ++host_counts().locks;
    is_locked = true;
}
void unlock(void*) { is_locked = false; }

void* VKAPI_CALL allocate(void*, size_t size, size_t alignment, VkSystemAllocationScope) {
    ++host_counts().allocations;
    void* memory = nullptr;
    return posix_memalign(&memory, std::max(alignment, sizeof(void*)), size) == 0 ? memory
                                                                                  : nullptr;
}
void* VKAPI_CALL reallocate(void* user, void* old, size_t size, size_t alignment,
                            VkSystemAllocationScope scope) {
    if (size == 0) {
        std::free(old);
        return nullptr;
    }
    void* memory = allocate(user, size, alignment, scope);
    if (memory && old) std::memcpy(memory, old, size);
    std::free(old);
    return memory;
}
void VKAPI_CALL release(void*, void* memory) { std::free(memory); }

}  // namespace

HostCounts& host_counts() {
    static HostCounts counts;
    return counts;
}

const VkAllocationCallbacks* counting_allocator() {
    static const VkAllocationCallbacks callbacks{nullptr, allocate, reallocate,
                                                 release, nullptr,  nullptr};
    return &callbacks;
}

Host::Host(const void* features, std::vector<const char*> extensions, bool validated)
    : features_(features), extensions_(std::move(extensions)) {
    host_counts() = {};
    const char* layer = "VK_LAYER_KHRONOS_validation";
    const char* debug = "VK_EXT_debug_utils";
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_2;
    VkDebugUtilsMessengerCreateInfoEXT messenger{
        VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
    messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                                VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    messenger.pfnUserCallback = on_message;
    messenger.pUserData = this;
    VkValidationFeatureEnableEXT enable =
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
    VkValidationFeaturesEXT validation{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT, &messenger, 1,
                                       &enable};
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, &validation};
    info.pApplicationInfo = &application;
    info.enabledLayerCount = validated ? 1 : 0;
    info.ppEnabledLayerNames = &layer;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &debug;
    check(vkCreateInstance(&info, nullptr, &instance));
    const auto create = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance, "vkCreateDebugUtilsMessengerEXT"));
    check(create(instance, &messenger, nullptr, &messenger_));

    uint32_t count = 1;
    const VkResult listed = vkEnumeratePhysicalDevices(instance, &count, &physical);
    check(listed == VK_INCOMPLETE ? VK_SUCCESS : listed);
    float priority = 1;
    VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queues.queueCount = 1;
    queues.pQueuePriorities = &priority;
    VkDeviceCreateInfo made{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, features_};
    made.queueCreateInfoCount = 1;
    made.pQueueCreateInfos = &queues;
    made.enabledExtensionCount = static_cast<uint32_t>(extensions_.size());
    made.ppEnabledExtensionNames = extensions_.data();
    check(vkCreateDevice(physical, &made, nullptr, &device));
    vkGetDeviceQueue(device, 0, 0, &queue);
    VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    check(vkCreateCommandPool(device, &pool, nullptr, &pool_));
    VkCommandBufferAllocateInfo commands{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    commands.commandPool = pool_;
    commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    commands.commandBufferCount = 1;
    check(vkAllocateCommandBuffers(device, &commands, &commands_));
}

Host::~Host() {
    vkDestroyCommandPool(device, pool_, nullptr);
    vkDestroyDevice(device, nullptr);
    const auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(instance, "vkDestroyDebugUtilsMessengerEXT"));
    destroy(instance, messenger_, nullptr);
    vkDestroyInstance(instance, nullptr);
    EXPECT_TRUE(messages.empty()) << messages.size() << " messages, the first: " << messages[0];
}

firn_host Host::describe(bool with_queue) const {
    firn_host out{};
    out.struct_size = sizeof out;
    out.instance = instance;
    out.physical_device = physical;
    out.device = device;
    out.get_instance_proc_addr = reinterpret_cast<void*>(instance_functions);
    out.api_version = VK_API_VERSION_1_2;
    static const char* const debug[] = {"VK_EXT_debug_utils"};
    out.instance_extensions = debug;
    out.instance_extension_count = 1;
    out.extensions = extensions_.data();
    out.extension_count = static_cast<uint32_t>(extensions_.size());
    out.features = features_;
    if (with_queue) {
        out.queue = queue;
        out.queue_family = family;
        out.lock_queue = lock;
        out.unlock_queue = unlock;
    }
    return out;
}

Host::Memory Host::buffer(uint64_t bytes, VkBufferUsageFlags usage) {
    Memory out;
    out.bytes = bytes;
    out.usage = usage;
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = bytes;
    info.usage = usage;
    check(vkCreateBuffer(device, &info, nullptr, &out.buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, out.buffer, &needs);
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(physical, &types);
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocate.allocationSize = needs.size;
    constexpr VkMemoryPropertyFlags kSeen =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    while ((types.memoryTypes[allocate.memoryTypeIndex].propertyFlags & kSeen) != kSeen ||
           !(needs.memoryTypeBits >> allocate.memoryTypeIndex & 1))
        ++allocate.memoryTypeIndex;
    check(vkAllocateMemory(device, &allocate, nullptr, &out.memory));
    check(vkBindBufferMemory(device, out.buffer, out.memory, 0));
    void* mapped = nullptr;
    check(vkMapMemory(device, out.memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    out.floats = static_cast<float*>(mapped);
    return out;
}

void Host::free(Memory& memory) {
    vkDestroyBuffer(device, memory.buffer, nullptr);
    vkFreeMemory(device, memory.memory, nullptr);
    memory = {};
}

Host::Picture Host::picture(VkFormat format, uint32_t width, uint32_t height,
                            VkImageUsageFlags usage) {
    Picture out;
    VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = format;
    info.extent = {width, height, 1};
    info.mipLevels = info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = usage;
    check(vkCreateImage(device, &info, nullptr, &out.image));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(device, out.image, &needs);
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocate.allocationSize = needs.size;
    while (!(needs.memoryTypeBits >> allocate.memoryTypeIndex & 1)) ++allocate.memoryTypeIndex;
    check(vkAllocateMemory(device, &allocate, nullptr, &out.memory));
    check(vkBindImageMemory(device, out.image, out.memory, 0));
    return out;
}

void Host::free(Picture& picture) {
    vkDestroyImage(device, picture.image, nullptr);
    vkFreeMemory(device, picture.memory, nullptr);
    picture = {};
}

void Host::copy(const Picture& picture, uint32_t width, uint32_t height, const Memory& memory,
                bool to_image, VkImageLayout before, VkImageLayout after) {
    const VkCommandBuffer commands = begin();
    const VkImageLayout copied =
        to_image ? VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const auto change = [&](VkImageLayout from, VkImageLayout to) {
        VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
        barrier.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
        barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
        barrier.oldLayout = from;
        barrier.newLayout = to;
        barrier.image = picture.image;
        barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                             VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr, 0, nullptr, 1,
                             &barrier);
    };
    change(before, copied);
    VkBufferImageCopy region{};
    region.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    region.imageExtent = {width, height, 1};
    if (to_image)
        vkCmdCopyBufferToImage(commands, memory.buffer, picture.image, copied, 1, &region);
    else
        vkCmdCopyImageToBuffer(commands, picture.image, copied, memory.buffer, 1, &region);
    change(copied, after);
    run();
}

VkCommandBuffer Host::begin() {
    VkCommandBufferBeginInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    check(vkBeginCommandBuffer(commands_, &info));
    return commands_;
}

void Host::run() {
    check(vkEndCommandBuffer(commands_));
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands_;
    check(vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE));
    check(vkQueueWaitIdle(queue));
}

}  // namespace firn
