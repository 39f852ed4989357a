// Wrappers around every Vulkan function that the engine calls, and an operator new that can fail.
#include "tests/faults/faults.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

namespace {

std::atomic<int64_t> left{0};  // calls of the kind until the one that fails; 0: none fails
std::atomic<firn::Fault> kind{};
std::atomic<bool> fired{false};
std::atomic<const char*> failed_call{""};
std::atomic<VkResult> failed_result{VK_SUCCESS};
thread_local bool may_fail = false;  // allocations of this thread, now

/// True for the call that shall fail.
bool is_due() {
    if (left.load() <= 0 || left.fetch_sub(1) != 1) return false;
    fired = true;
    return true;
}

void* allocate(size_t bytes) {
    if (may_fail && kind == firn::Fault::Allocation && is_due()) return nullptr;
    return std::malloc(bytes > 0 ? bytes : 1);
}

}  // namespace

void* operator new(size_t bytes) {
    if (void* memory = allocate(bytes)) return memory;
    throw std::bad_alloc();
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace firn {
namespace {

/// Every function of a device that the engine calls; a test compares them with its sources.
// clang-format off
#define FIRN_FAULT_FUNCTIONS(X) \
    X(vkAcquireNextImageKHR) X(vkAllocateCommandBuffers) X(vkAllocateDescriptorSets) \
    X(vkAllocateMemory) X(vkBeginCommandBuffer) X(vkBindBufferMemory) X(vkBindImageMemory) \
    X(vkCmdBeginRenderPass) X(vkCmdBindDescriptorSets) X(vkCmdBindPipeline) \
    X(vkCmdClearAttachments) X(vkCmdCopyBuffer) X(vkCmdCopyBufferToImage) X(vkCmdCopyImageToBuffer) \
    X(vkCmdDispatch) X(vkCmdDispatchIndirect) X(vkCmdDraw) \
    X(vkCmdEndRenderPass) X(vkCmdFillBuffer) X(vkCmdPipelineBarrier) X(vkCmdPushConstants) X(vkCmdResetQueryPool) \
    X(vkCmdSetScissor) X(vkCmdSetViewport) X(vkCmdUpdateBuffer) X(vkCmdWriteTimestamp) \
    X(vkCreateBuffer) X(vkCreateBufferView) X(vkCreateCommandPool) X(vkCreateComputePipelines) \
    X(vkCreateDescriptorPool) X(vkCreateDescriptorSetLayout) X(vkCreateFence) X(vkCreateFramebuffer) \
    X(vkCreateGraphicsPipelines) X(vkCreateImage) X(vkCreateImageView) X(vkCreatePipelineCache) \
    X(vkCreatePipelineLayout) X(vkCreateQueryPool) X(vkCreateRenderPass) X(vkCreateSemaphore) \
    X(vkCreateShaderModule) X(vkCreateSwapchainKHR) X(vkDestroyBuffer) X(vkDestroyBufferView) \
    X(vkDestroyCommandPool) X(vkDestroyDescriptorPool) X(vkDestroyDescriptorSetLayout) \
    X(vkDestroyDevice) X(vkDestroyFence) X(vkDestroyFramebuffer) X(vkDestroyImage) X(vkDestroyImageView) \
    X(vkDestroyPipeline) X(vkDestroyPipelineCache) X(vkDestroyPipelineLayout) X(vkDestroyQueryPool) \
    X(vkDestroyRenderPass) X(vkDestroySemaphore) X(vkDestroyShaderModule) X(vkDestroySwapchainKHR) \
    X(vkDeviceWaitIdle) X(vkEndCommandBuffer) X(vkFreeMemory) X(vkGetBufferDeviceAddress) \
    X(vkGetBufferMemoryRequirements) X(vkGetDeviceQueue) X(vkGetFenceStatus) X(vkGetImageMemoryRequirements) \
    X(vkGetPipelineCacheData) X(vkGetQueryPoolResults) X(vkGetSemaphoreCounterValue) X(vkGetSwapchainImagesKHR) X(vkMapMemory) \
    X(vkMergePipelineCaches) X(vkQueuePresentKHR) X(vkQueueSubmit) X(vkResetCommandBuffer) X(vkResetFences) X(vkUpdateDescriptorSets) \
    X(vkWaitForFences) X(vkWaitSemaphores)
// clang-format on

/// The calls that may report a lost device, by the specification.
constexpr std::array kMayBeLost = {"vkCreateDevice",        "vkQueueSubmit",
                                   "vkDeviceWaitIdle",      "vkGetSemaphoreCounterValue",
                                   "vkWaitSemaphores",      "vkGetQueryPoolResults",
                                   "vkGetFenceStatus",      "vkWaitForFences",
                                   "vkAcquireNextImageKHR", "vkQueuePresentKHR"};

bool may_be_lost(std::string_view name) {
    return std::find(kMayBeLost.begin(), kMayBeLost.end(), name) != kMayBeLost.end();
}

std::optional<VkResult> failure_of(const char* name) {
    if (left.load() <= 0 || kind == Fault::Allocation) return std::nullopt;
    const bool lost = kind == Fault::DeviceLost;
    if (lost && !may_be_lost(name)) return std::nullopt;
    const VkResult memory =
        left.load() % 2 ? VK_ERROR_OUT_OF_DEVICE_MEMORY : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (!is_due()) return std::nullopt;
    failed_call = name;
    return failed_result = lost ? VK_ERROR_DEVICE_LOST : memory;
}

/// The driver's own allocations do not count.
struct DriverAllocates {
    bool before = std::exchange(may_fail, false);
    ~DriverAllocates() { may_fail = before; }
};

/// A function that fails at its chosen call, and otherwise calls the original.
template <class Function, int id>
struct Wrapper;
template <class Result, class... Arguments, int id>
struct Wrapper<Result(VKAPI_PTR*)(Arguments...), id> {
    using Function = Result(VKAPI_PTR*)(Arguments...);
    static inline std::atomic<Function> original{nullptr};
    static inline std::atomic<const char*> name{""};

    static VKAPI_ATTR Result VKAPI_CALL call(Arguments... arguments) {
        const DriverAllocates driver;
        if constexpr (std::is_same_v<Result, VkResult>)
            if (const auto failure = failure_of(name)) return *failure;
        return original.load()(arguments...);
    }
    static void put(Function& function, const char* called) {
        if (!function || function == call) return;
        original = function;
        name = called;
        function = call;
    }
};

#define FIRN_WRAP(called) Wrapper<PFN_##called, __COUNTER__>::put(table.called, #called);

void wrap_instance(InstanceTable& table) {
    FIRN_INSTANCE_FUNCTIONS(FIRN_WRAP)
    FIRN_INSTANCE_EXTENSION_FUNCTIONS(FIRN_WRAP)
}

void wrap_device(VolkDeviceTable& table) { FIRN_FAULT_FUNCTIONS(FIRN_WRAP) }

}  // namespace

void inject(Fault fault, int64_t nth) {
    kind = fault;
    fired = false;
    left = nth;
}

Injected end_injection() {
    left = 0;
    return {fired, failed_call.load(), result_name(failed_result)};
}

DeviceOptions with_faults(DeviceOptions options) {
    options.on_instance_functions = wrap_instance;
    options.on_device_functions = wrap_device;
    return options;
}

std::set<std::string> wrapped_functions() {
#define FIRN_NAME(name) #name,
    return {FIRN_INSTANCE_FUNCTIONS(FIRN_NAME) FIRN_INSTANCE_EXTENSION_FUNCTIONS(FIRN_NAME)
                FIRN_FAULT_FUNCTIONS(FIRN_NAME)};
}

AllocationsFail::AllocationsFail() : before_(std::exchange(may_fail, true)) {}
AllocationsFail::~AllocationsFail() { may_fail = before_; }

}  // namespace firn
