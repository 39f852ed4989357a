// A native plugin for Unity with Vulkan: runs saved programs of Firn on the buffers and textures of
// a scene, inside Unity's frame and without a wait.
#define VK_NO_PROTOTYPES
#include "unity_plugin.h"

#include <IUnityGraphics.h>
#include <IUnityGraphicsVulkan.h>
#include <firn.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

// ---- What the plugin holds ----

/// Memory of an argument or result: what the script gave, and what Unity last said is behind it.
struct Memory {
    void* native = nullptr;
    bool is_texture = false;
    uint64_t handle = 0;  // the VkBuffer or VkImage that Firn has
    firn_buffer* buffer = nullptr;
    firn_image* image = nullptr;
};

struct Call {
    firn_call* call = nullptr;
    int program = 0;
    std::vector<Memory> memory[2];  // arguments, results
    bool is_bound = false;
};

struct LoadedProgram {
    firn_program* program = nullptr;
    firn_program_info info{};
};

/// A command buffer of the plugin. Its state changes on the render thread, and from recorded to
/// submitted in the callback for the queue, on whichever thread Unity calls that.
struct Slot {
    enum State { kIdle, kRecorded, kSubmitted, kFailed };
    VkCommandBuffer commands = VK_NULL_HANDLE;
    VkFence fence = VK_NULL_HANDLE;
    uint64_t frame = 0;
    std::atomic<int> state{kIdle};
};

struct Vulkan {
    PFN_vkCreateCommandPool create_pool;
    PFN_vkDestroyCommandPool destroy_pool;
    PFN_vkAllocateCommandBuffers allocate;
    PFN_vkBeginCommandBuffer begin;
    PFN_vkEndCommandBuffer end;
    PFN_vkCreateFence create_fence;
    PFN_vkDestroyFence destroy_fence;
    PFN_vkGetFenceStatus fence_status;
    PFN_vkResetFences reset_fences;
    PFN_vkQueueSubmit submit;
    PFN_vkDeviceWaitIdle wait_idle;
};

struct Plugin {
    std::mutex mutex;  // around all below: a context of Firn is used by one thread at a time
    IUnityGraphics* graphics = nullptr;
    IUnityGraphicsVulkan* unity = nullptr;
    int event = 0;
    UnityVulkanInstance device{};
    Vulkan vulkan{};
    firn_context* context = nullptr;
    VkCommandPool pool = VK_NULL_HANDLE;
    std::vector<std::unique_ptr<Slot>> slots;
    std::map<int, LoadedProgram> programs;
    std::map<int, Call> calls;
    int last_id = 0;
    bool into_unitys_commands = false;
    std::string error;
    int errors = 0;
};
Plugin plugin;

int fail(const std::string& text) {
    plugin.error = text;
    ++plugin.errors;
    return 0;
}

/// Returns whether a function of Firn did what it should; else its text is the plugin's error.
bool worked(int32_t code, const char* what) {
    if (code == FIRN_OK) return true;
    fail(std::string(what) + ": " + firn_code_name(code) + ": " + firn_message(plugin.context));
    return false;
}

// ---- The device ----

template <typename Function>
bool find(Function& function, PFN_vkGetDeviceProcAddr get, const char* name) {
    function = reinterpret_cast<Function>(get(plugin.device.device, name));
    if (!function) fail(std::string("the device has no ") + name);
    return function != nullptr;
}

bool find_functions() {
    const auto get = reinterpret_cast<PFN_vkGetDeviceProcAddr>(
        plugin.device.getInstanceProcAddr(plugin.device.instance, "vkGetDeviceProcAddr"));
    Vulkan& vulkan = plugin.vulkan;
    return get && find(vulkan.create_pool, get, "vkCreateCommandPool") &&
           find(vulkan.destroy_pool, get, "vkDestroyCommandPool") &&
           find(vulkan.allocate, get, "vkAllocateCommandBuffers") &&
           find(vulkan.begin, get, "vkBeginCommandBuffer") &&
           find(vulkan.end, get, "vkEndCommandBuffer") &&
           find(vulkan.create_fence, get, "vkCreateFence") &&
           find(vulkan.destroy_fence, get, "vkDestroyFence") &&
           find(vulkan.fence_status, get, "vkGetFenceStatus") &&
           find(vulkan.reset_fences, get, "vkResetFences") &&
           find(vulkan.submit, get, "vkQueueSubmit") &&
           find(vulkan.wait_idle, get, "vkDeviceWaitIdle");
}

void start() {
    if (plugin.context || !plugin.unity) return;
    plugin.device = plugin.unity->Instance();
    if (!plugin.device.device || !find_functions()) return;
    // Unity does not say which features and extensions it enabled: Firn uses none. It gets no queue
    // either, since that is Unity's at all times but those of AccessQueue.
    firn_host host{};
    host.struct_size = sizeof host;
    host.flags = FIRN_HOST_STORAGE_BUFFERS_ONLY;
    host.instance = plugin.device.instance;
    host.physical_device = plugin.device.physicalDevice;
    host.device = plugin.device.device;
    host.get_instance_proc_addr = reinterpret_cast<void*>(plugin.device.getInstanceProcAddr);
    host.api_version = VK_API_VERSION_1_2;
    host.queue_family = plugin.device.queueFamilyIndex;
    char text[512] = "";
    const int32_t code = firn_context_create(&host, &plugin.context, text, sizeof text);
    if (code != FIRN_OK) {
        plugin.context = nullptr;
        fail(std::string("firn_context_create: ") + firn_code_name(code) + ": " + text);
        return;
    }
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = plugin.device.queueFamilyIndex;
    if (plugin.vulkan.create_pool(plugin.device.device, &pool, nullptr, &plugin.pool) != VK_SUCCESS)
        fail("the device has no memory for a command pool");
    // The event records no draw: Unity ends its render pass before it, and sets its own state anew
    // behind it.
    const UnityVulkanPluginEventConfig config{
        kUnityVulkanRenderPass_EnsureOutside, kUnityVulkanGraphicsQueueAccess_DontCare,
        kUnityVulkanEventConfigFlag_EnsurePreviousFrameSubmission |
            kUnityVulkanEventConfigFlag_ModifiesCommandBuffersState};
    plugin.unity->ConfigureEvent(plugin.event, &config);
}

void release(Call& call) {
    firn_call_release(call.call);
    for (std::vector<Memory>& side : call.memory)
        for (Memory& memory : side) {
            firn_buffer_release(memory.buffer);
            firn_image_release(memory.image);
        }
}

/// The device is still there, and nothing will be submitted any more.
void end() {
    if (!plugin.context) return;
    plugin.vulkan.wait_idle(plugin.device.device);
    for (auto& [id, call] : plugin.calls) release(call);
    plugin.calls.clear();
    for (auto& [id, program] : plugin.programs) firn_program_release(program.program);
    plugin.programs.clear();
    for (const auto& slot : plugin.slots)
        plugin.vulkan.destroy_fence(plugin.device.device, slot->fence, nullptr);
    plugin.slots.clear();
    plugin.vulkan.destroy_pool(plugin.device.device, plugin.pool, nullptr);
    plugin.pool = VK_NULL_HANDLE;
    worked(firn_collect(plugin.context, UINT64_MAX), "firn_collect");
    if (worked(firn_context_destroy(plugin.context), "firn_context_destroy"))
        plugin.context = nullptr;
}

void UNITY_INTERFACE_API on_device_event(UnityGfxDeviceEventType type) {
    const std::lock_guard<std::mutex> lock(plugin.mutex);
    if (type == kUnityGfxDeviceEventInitialize) start();
    if (type == kUnityGfxDeviceEventShutdown) end();
}

// ---- An event on the render thread ----

/// Frames whose commands are complete: those that Unity names, but none whose own command buffer is
/// not.
void collect(uint64_t safe_frame) {
    uint64_t complete = safe_frame;
    for (const auto& slot : plugin.slots) {
        if (slot->state == Slot::kSubmitted &&
            plugin.vulkan.fence_status(plugin.device.device, slot->fence) == VK_SUCCESS) {
            plugin.vulkan.reset_fences(plugin.device.device, 1, &slot->fence);
            slot->state = Slot::kIdle;
        }
        if (slot->state == Slot::kFailed) fail("Unity's queue did not take the commands");
        if (slot->state == Slot::kFailed) slot->state = Slot::kIdle;
        if (slot->state != Slot::kIdle) complete = std::min(complete, slot->frame - 1);
    }
    worked(firn_collect(plugin.context, complete), "firn_collect");
}

/// Tells Unity how the call uses the memory, so that Unity records its barriers, and gives Firn
/// what is behind a native pointer now: Unity may have moved it.
bool access(Call& call, int what, uint32_t index) {
    Memory& memory = call.memory[what][index];
    firn_memory_info info{};
    info.struct_size = sizeof info;
    if (!worked(firn_call_memory(call.call, what, index, &info), "firn_call_memory")) return false;
    if (info.bytes == 0) return true;
    if (!memory.native)
        return fail((what == FIRN_ARGUMENT ? "argument " : "result ") + std::to_string(index) +
                    " has no buffer and no texture");
    uint64_t handle = 0;
    if (memory.is_texture) {
        const bool is_read = what == FIRN_ARGUMENT;
        UnityVulkanImage image{};
        if (!plugin.unity->AccessTexture(
                memory.native, UnityVulkanWholeImage,
                is_read ? VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL
                        : VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                VK_PIPELINE_STAGE_TRANSFER_BIT,
                is_read ? VK_ACCESS_TRANSFER_READ_BIT : VK_ACCESS_TRANSFER_WRITE_BIT,
                kUnityVulkanResourceAccess_PipelineBarrier, &image))
            return fail("Unity gives no access to a texture");
        handle = reinterpret_cast<uint64_t>(image.image);
        if (handle == memory.handle) return true;
        if (image.samples != VK_SAMPLE_COUNT_1_BIT || image.layers != 1 || image.mipCount != 1)
            return fail("a texture has more than one sample, layer or level");
        firn_host_image from{};
        from.struct_size = sizeof from;
        from.usage = image.usage;
        from.image = handle;
        from.format = uint32_t(image.format);
        from.width = image.extent.width;
        from.height = image.extent.height;
        from.layout_before = from.layout_after = uint32_t(image.layout);
        firn_image* made = nullptr;
        if (!worked(firn_image_import(plugin.context, &from, &made), "firn_image_import"))
            return false;
        firn_image_release(memory.image);
        memory.image = made;
    } else {
        const VkAccessFlags reads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT,
                            writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
        UnityVulkanBuffer buffer{};
        if (!plugin.unity->AccessBuffer(
                memory.native,
                VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                info.written ? reads | writes : reads, kUnityVulkanResourceAccess_PipelineBarrier,
                &buffer))
            return fail("Unity gives no access to a buffer");
        handle = reinterpret_cast<uint64_t>(buffer.buffer);
        if (handle == memory.handle) return true;
        firn_host_buffer from{};
        from.struct_size = sizeof from;
        from.usage = buffer.usage;
        from.buffer = handle;
        from.bytes = buffer.sizeInBytes;
        firn_buffer* made = nullptr;
        if (!worked(firn_buffer_import(plugin.context, &from, &made), "firn_buffer_import"))
            return false;
        firn_buffer_release(memory.buffer);
        memory.buffer = made;
    }
    memory.handle = handle;
    call.is_bound = false;
    return true;
}

bool bind(Call& call) {
    std::vector<firn_binding> bindings[2];
    for (int what = 0; what < 2; ++what)
        for (const Memory& memory : call.memory[what])
            bindings[what].push_back({memory.buffer, memory.image, 0, 0});
    call.is_bound =
        worked(firn_call_bind(call.call, bindings[0].data(), uint32_t(bindings[0].size()),
                              bindings[1].data(), uint32_t(bindings[1].size()), nullptr),
               "firn_call_bind");
    return call.is_bound;
}

bool record(const Call& call, VkCommandBuffer commands, uint64_t frame) {
    firn_record_info info{};
    info.struct_size = sizeof info;
    info.flags = FIRN_RECORD_BARRIERS;
    info.command_buffer = commands;
    info.frame = frame;
    return worked(firn_record(call.call, &info, nullptr), "firn_record");
}

/// An idle slot; there is a new one where all are in flight, so that no frame waits.
Slot* idle_slot() {
    for (const auto& slot : plugin.slots)
        if (slot->state == Slot::kIdle) return slot.get();
    auto made = std::make_unique<Slot>();
    VkCommandBufferAllocateInfo commands{};
    commands.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    commands.commandPool = plugin.pool;
    commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    commands.commandBufferCount = 1;
    VkFenceCreateInfo fence{};
    fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    if (plugin.vulkan.allocate(plugin.device.device, &commands, &made->commands) != VK_SUCCESS ||
        plugin.vulkan.create_fence(plugin.device.device, &fence, nullptr, &made->fence) !=
            VK_SUCCESS) {
        fail("the device has no memory for commands");
        return nullptr;
    }
    plugin.slots.push_back(std::move(made));
    return plugin.slots.back().get();
}

/// On a thread that may use the queue; takes no lock, since it may be called inside of AccessQueue.
void UNITY_INTERFACE_API submit(int, void* data) {
    Slot& slot = *static_cast<Slot*>(data);
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &slot.commands;
    const VkResult result = plugin.vulkan.submit(plugin.device.graphicsQueue, 1, &info, slot.fence);
    slot.state = result == VK_SUCCESS ? Slot::kSubmitted : Slot::kFailed;
}

void run_in_own_commands(const Call& call, uint64_t frame, int event) {
    Slot* slot = idle_slot();
    if (!slot) return;
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    if (plugin.vulkan.begin(slot->commands, &begin) != VK_SUCCESS) {
        fail("the device has no memory for commands");
        return;
    }
    const bool is_recorded = record(call, slot->commands, frame);
    if (plugin.vulkan.end(slot->commands) != VK_SUCCESS || !is_recorded) return;
    slot->frame = frame;
    slot->state = Slot::kRecorded;
    // Unity's commands up to here are submitted first: they hold the barriers of access().
    plugin.unity->AccessQueue(submit, event, slot, true);
}

void UNITY_INTERFACE_API on_event(int event, void* data) {
    const std::lock_guard<std::mutex> lock(plugin.mutex);
    const auto found = plugin.calls.find(int(reinterpret_cast<intptr_t>(data)));
    if (!plugin.context || found == plugin.calls.end()) {
        fail(plugin.context ? "an event names no call" : "there is no device of Vulkan");
        return;
    }
    Call& call = found->second;
    UnityVulkanRecordingState state{};
    if (!plugin.unity->CommandRecordingState(&state, kUnityVulkanGraphicsQueueAccess_DontCare)) {
        fail("Unity records no commands");
        return;
    }
    collect(state.safeFrameNumber);
    for (int what = 0; what < 2; ++what)
        for (uint32_t k = 0; k < call.memory[what].size(); ++k)
            if (!access(call, what, k)) return;
    if (!call.is_bound && !bind(call)) return;
    if (!plugin.into_unitys_commands) {
        run_in_own_commands(call, state.currentFrameNumber, event);
        return;
    }
    // Access to resources may have begun another command buffer, or a render pass.
    plugin.unity->EnsureOutsideRenderPass();
    if (!plugin.unity->CommandRecordingState(&state, kUnityVulkanGraphicsQueueAccess_DontCare)) {
        fail("Unity records no commands");
        return;
    }
    record(call, state.commandBuffer, state.currentFrameNumber);
}

int set_memory(int id, int what, int index, void* native, bool is_texture) {
    const std::lock_guard<std::mutex> lock(plugin.mutex);
    const auto found = plugin.calls.find(id);
    if (found == plugin.calls.end()) return fail("there is no call " + std::to_string(id));
    if (what < 0 || what > 1 || index < 0 || size_t(index) >= found->second.memory[what].size())
        return fail("the call has no such argument or result");
    Memory& memory = found->second.memory[what][size_t(index)];
    if (memory.is_texture != is_texture) {  // what it was goes when no commands use it
        firn_buffer_release(memory.buffer);
        firn_image_release(memory.image);
        memory = {};
    }
    if (memory.native != native)
        memory.handle = 0;  // a new object may have the handle of one that is gone
    memory.native = native;
    memory.is_texture = is_texture;
    return 1;
}

}  // namespace

// ---- What Unity calls ----

extern "C" UNITY_INTERFACE_EXPORT void UNITY_INTERFACE_API
UnityPluginLoad(IUnityInterfaces* interfaces) {
    plugin.graphics = interfaces->Get<IUnityGraphics>();
    plugin.unity = interfaces->Get<IUnityGraphicsVulkan>();
    if (!plugin.graphics) return;
    plugin.event = plugin.graphics->ReserveEventIDRange(1);
    plugin.graphics->RegisterDeviceEventCallback(on_device_event);
    // The device may have been there before the plugin.
    if (plugin.graphics->GetRenderer() == kUnityGfxRendererVulkan)
        on_device_event(kUnityGfxDeviceEventInitialize);
}

extern "C" UNITY_INTERFACE_EXPORT void UNITY_INTERFACE_API UnityPluginUnload() {
    if (!plugin.graphics) return;
    plugin.graphics->UnregisterDeviceEventCallback(on_device_event);
    on_device_event(kUnityGfxDeviceEventShutdown);
}

// ---- What scripts call ----

UNITY_INTERFACE_EXPORT int FirnLoad(const void* file, int bytes) {
    const std::lock_guard<std::mutex> lock(plugin.mutex);
    if (!plugin.context) return fail("there is no device of Vulkan");
    LoadedProgram made;
    made.info.struct_size = sizeof made.info;
    if (!worked(firn_program_load(plugin.context, file, size_t(bytes), &made.program),
                "firn_program_load"))
        return 0;
    if (!worked(firn_program_describe(made.program, &made.info), "firn_program_describe")) {
        firn_program_release(made.program);
        return 0;
    }
    plugin.programs[++plugin.last_id] = made;
    return plugin.last_id;
}

UNITY_INTERFACE_EXPORT void FirnUnload(int program) {
    const std::lock_guard<std::mutex> lock(plugin.mutex);
    const auto found = plugin.programs.find(program);
    if (found == plugin.programs.end()) return;
    firn_program_release(found->second.program);
    plugin.programs.erase(found);
}

UNITY_INTERFACE_EXPORT int FirnCall(int program, const int* ranks, const int64_t* extents,
                                    int count) {
    const std::lock_guard<std::mutex> lock(plugin.mutex);
    const auto found = plugin.programs.find(program);
    if (found == plugin.programs.end())
        return fail("there is no program " + std::to_string(program));
    std::vector<firn_shape> shapes;
    for (int k = 0; ranks && k < count; ++k) {
        if (ranks[k] < 0 || ranks[k] > FIRN_MAX_RANK) return fail("a rank is not from 0 to 8");
        firn_shape shape{};
        shape.rank = uint32_t(ranks[k]);
        std::copy(extents, extents + ranks[k], shape.extents);
        extents += ranks[k];
        shapes.push_back(shape);
    }
    Call made;
    made.program = program;
    if (!worked(firn_call_create(found->second.program, ranks ? shapes.data() : nullptr,
                                 uint32_t(shapes.size()), &made.call),
                "firn_call_create"))
        return 0;
    made.memory[FIRN_ARGUMENT].resize(found->second.info.argument_count);
    made.memory[FIRN_RESULT].resize(found->second.info.result_count);
    plugin.calls[++plugin.last_id] = std::move(made);
    return plugin.last_id;
}

UNITY_INTERFACE_EXPORT void FirnRelease(int call) {
    const std::lock_guard<std::mutex> lock(plugin.mutex);
    const auto found = plugin.calls.find(call);
    if (found == plugin.calls.end()) return;
    release(found->second);
    plugin.calls.erase(found);
}

UNITY_INTERFACE_EXPORT int FirnBuffer(int call, int what, int index, void* native) {
    return set_memory(call, what, index, native, false);
}

UNITY_INTERFACE_EXPORT int FirnTexture(int call, int what, int index, void* native) {
    return set_memory(call, what, index, native, true);
}

UNITY_INTERFACE_EXPORT int FirnParameter(int call, const char* name, const double* values,
                                         int count) {
    const std::lock_guard<std::mutex> lock(plugin.mutex);
    const auto found = plugin.calls.find(call);
    if (found == plugin.calls.end()) return fail("there is no call " + std::to_string(call));
    const auto program = plugin.programs.find(found->second.program);
    if (program == plugin.programs.end()) return fail("the program of the call was unloaded");
    for (uint32_t k = 0; k < program->second.info.parameter_count; ++k) {
        firn_parameter_info info{};
        info.struct_size = sizeof info;
        if (!worked(firn_parameter_describe(program->second.program, k, &info),
                    "firn_parameter_describe"))
            return 0;
        if (std::strcmp(info.name, name) != 0) continue;
        return worked(firn_call_set_parameter(found->second.call, k, values, uint32_t(count)),
                      "firn_call_set_parameter");
    }
    return fail(std::string("the program has no parameter '") + name + "'");
}

UNITY_INTERFACE_EXPORT void (*FirnEvent(void))(int event, void* call) { return on_event; }

UNITY_INTERFACE_EXPORT int FirnEventId(void) { return plugin.event; }

UNITY_INTERFACE_EXPORT void FirnIntoUnitysCommands(int yes) {
    const std::lock_guard<std::mutex> lock(plugin.mutex);
    plugin.into_unitys_commands = yes != 0;
}

UNITY_INTERFACE_EXPORT int FirnError(char* text, int room) {
    const std::lock_guard<std::mutex> lock(plugin.mutex);
    if (room > 0) std::snprintf(text, size_t(room), "%s", plugin.error.c_str());
    return plugin.errors;
}
