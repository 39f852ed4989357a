// A stand-in of Unity: loads the plugin as Unity does, keeps the rules of its interface for Vulkan,
// and compares the textures that the plugin writes with what this program computes itself.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../unity_plugin.h"
#include "IUnityGraphicsVulkan.h"
#include "gpu.h"

namespace {

constexpr unsigned long long kFramesInFlight = 2;
constexpr int kReservedEvents = 1000;  // the first number that plugins get

/// A buffer or a texture of a scene. Its address is the native pointer that scripts see.
struct Resource {
    GpuBuffer buffer;
    VkImage image = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkExtent3D extent{};
    VkImageLayout layout = VK_IMAGE_LAYOUT_UNDEFINED;
    VkPipelineStageFlags stages = VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT;  // of its last use
    VkAccessFlags access = 0;
    unsigned long long last_frame = 0;
};

struct Frame {
    std::vector<VkCommandBuffer> commands;
    VkFence fence = VK_NULL_HANDLE;
    GpuBuffer read_back;
    std::vector<float> expected;  // empty: the frame is not compared
};

struct Engine {
    Gpu gpu;
    VkCommandPool pool = VK_NULL_HANDLE;
    VkRenderPass render_pass = VK_NULL_HANDLE;
    VkFramebuffer framebuffer = VK_NULL_HANDLE;
    Frame frames[kFramesInFlight];
    unsigned long long frame = 0, safe_frame = 0;
    VkCommandBuffer commands = VK_NULL_HANDLE;  // being recorded
    bool is_in_pass = false;
    std::vector<VkCommandBuffer> ended;              // recorded, and not yet handed over
    std::vector<std::function<void()>> submissions;  // in order, for the thread that submits
    std::vector<std::pair<unsigned long long, std::unique_ptr<Resource>>> retired;
    std::map<int, UnityVulkanPluginEventConfig> configs;
    IUnityGraphicsDeviceEventCallback on_device = nullptr;
    bool is_in_event = false, is_in_queue_callback = false, may_wait = false;
    int violations = 0, callbacks_at_once = 0, callbacks_later = 0;
    double largest_difference = 0;
    int compared = 0;
};
Engine engine;

void violation(const char* rule) {
    ++engine.violations;
    std::fprintf(stderr, "unity_stand_in: the plugin breaks a rule: %s\n", rule);
}

// ---- Commands ----

void begin_commands() {
    VkCommandBufferAllocateInfo allocate{};
    allocate.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    allocate.commandPool = engine.pool;
    allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    allocate.commandBufferCount = 1;
    check(vkAllocateCommandBuffers(engine.gpu.device, &allocate, &engine.commands),
          "vkAllocateCommandBuffers");
    VkCommandBufferBeginInfo begin{};
    begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    check(vkBeginCommandBuffer(engine.commands, &begin), "vkBeginCommandBuffer");
    engine.frames[engine.frame % kFramesInFlight].commands.push_back(engine.commands);
}

void submit(VkCommandBuffer commands, VkFence fence) {
    VkSubmitInfo info{};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = commands ? 1 : 0;
    info.pCommandBuffers = &commands;
    check(vkQueueSubmit(engine.gpu.queue, 1, &info, fence), "vkQueueSubmit");
}

void end_pass() {
    if (engine.is_in_pass) vkCmdEndRenderPass(engine.commands);
    engine.is_in_pass = false;
}

void begin_pass() {
    VkRenderPassBeginInfo info{};
    info.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO;
    info.renderPass = engine.render_pass;
    info.framebuffer = engine.framebuffer;
    info.renderArea.extent = {16, 16};
    vkCmdBeginRenderPass(engine.commands, &info, VK_SUBPASS_CONTENTS_INLINE);
    engine.is_in_pass = true;
}

void end_commands() {
    end_pass();
    check(vkEndCommandBuffer(engine.commands), "vkEndCommandBuffer");
    engine.ended.push_back(engine.commands);
    engine.commands = VK_NULL_HANDLE;
}

void flush_commands() {
    for (VkCommandBuffer commands : engine.ended)
        engine.submissions.push_back([commands] { submit(commands, VK_NULL_HANDLE); });
    engine.ended.clear();
}

/// On the thread that submits.
void run_submissions() {
    std::thread([] {
        for (const auto& submission : engine.submissions) submission();
    }).join();
    engine.submissions.clear();
}

// ---- Resources ----

/// Records the barrier between the use before and this one.
void use(Resource& resource, VkImageLayout layout, VkPipelineStageFlags stages,
         VkAccessFlags access) {
    end_pass();
    if (resource.image) {
        VkImageMemoryBarrier barrier{};
        barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER;
        barrier.srcAccessMask = resource.access;
        barrier.dstAccessMask = access;
        barrier.oldLayout = resource.layout;
        barrier.newLayout = layout;
        barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.image = resource.image;
        barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
        vkCmdPipelineBarrier(engine.commands, resource.stages, stages, 0, 0, nullptr, 0, nullptr, 1,
                             &barrier);
        resource.layout = layout;
    } else {
        VkBufferMemoryBarrier barrier{};
        barrier.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER;
        barrier.srcAccessMask = resource.access;
        barrier.dstAccessMask = access;
        barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        barrier.buffer = resource.buffer.buffer;
        barrier.size = VK_WHOLE_SIZE;
        vkCmdPipelineBarrier(engine.commands, resource.stages, stages, 0, 0, nullptr, 1, &barrier,
                             0, nullptr);
    }
    resource.stages = stages;
    resource.access = access;
    resource.last_frame = engine.frame;
}

std::unique_ptr<Resource> make_texture(uint32_t width, uint32_t height) {
    auto out = std::make_unique<Resource>();
    out->extent = {width, height, 1};
    VkImageCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO;
    info.imageType = VK_IMAGE_TYPE_2D;
    info.format = VK_FORMAT_R32_SFLOAT;
    info.extent = out->extent;
    info.mipLevels = info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_SAMPLED_BIT;
    check(vkCreateImage(engine.gpu.device, &info, nullptr, &out->image), "vkCreateImage");
    VkMemoryRequirements needed;
    vkGetImageMemoryRequirements(engine.gpu.device, out->image, &needed);
    out->memory = allocate(engine.gpu, needed, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    check(vkBindImageMemory(engine.gpu.device, out->image, out->memory, 0), "vkBindImageMemory");
    return out;
}

std::unique_ptr<Resource> make_graphics_buffer(VkDeviceSize bytes) {
    auto out = std::make_unique<Resource>();
    out->buffer =
        make_buffer(engine.gpu, bytes,
                    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                        VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                    false);
    return out;
}

void retire(std::unique_ptr<Resource> resource) {
    const unsigned long long frame = resource->last_frame;
    engine.retired.emplace_back(frame, std::move(resource));
}

void destroy_retired() {
    auto& all = engine.retired;
    all.erase(std::remove_if(all.begin(), all.end(),
                             [](auto& entry) {
                                 if (entry.first > engine.safe_frame) return false;
                                 Resource& resource = *entry.second;
                                 vkDestroyImage(engine.gpu.device, resource.image, nullptr);
                                 vkFreeMemory(engine.gpu.device, resource.memory, nullptr);
                                 destroy_buffer(engine.gpu, resource.buffer);
                                 return true;
                             }),
              all.end());
}

// ---- The interface ----

/// Access to a resource goes on in another command buffer: what the plugin knew of the recording is
/// over.
bool may_access() {
    if (!engine.is_in_event || engine.is_in_queue_callback) {
        violation("resources are accessed in events, and not while the queue is");
        return false;
    }
    return true;
}

void continue_in_new_commands() {
    end_commands();
    begin_commands();
}

bool access_texture(void* native, const VkImageSubresource*, VkImageLayout layout,
                    VkPipelineStageFlags stages, VkAccessFlags access,
                    UnityVulkanResourceAccessMode mode, UnityVulkanImage* out) {
    if (!may_access() || !native) return false;
    Resource& resource = *static_cast<Resource*>(native);
    if (mode == kUnityVulkanResourceAccess_PipelineBarrier) use(resource, layout, stages, access);
    continue_in_new_commands();
    *out = {};
    out->image = resource.image;
    out->layout = resource.layout;
    out->aspect = VK_IMAGE_ASPECT_COLOR_BIT;
    out->usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                 VK_IMAGE_USAGE_SAMPLED_BIT;
    out->format = VK_FORMAT_R32_SFLOAT;
    out->extent = resource.extent;
    out->type = VK_IMAGE_TYPE_2D;
    out->samples = VK_SAMPLE_COUNT_1_BIT;
    out->layers = out->mipCount = 1;
    return true;
}

bool access_buffer(void* native, VkPipelineStageFlags stages, VkAccessFlags access,
                   UnityVulkanResourceAccessMode mode, UnityVulkanBuffer* out) {
    if (!may_access() || !native) return false;
    Resource& resource = *static_cast<Resource*>(native);
    if (mode == kUnityVulkanResourceAccess_PipelineBarrier)
        use(resource, VK_IMAGE_LAYOUT_UNDEFINED, stages, access);
    continue_in_new_commands();
    *out = {};
    out->buffer = resource.buffer.buffer;
    out->sizeInBytes = size_t(resource.buffer.bytes);
    out->usage = resource.buffer.usage;
    return true;
}

bool recording_state(UnityVulkanRecordingState* out, UnityVulkanGraphicsQueueAccess access) {
    if ((access == kUnityVulkanGraphicsQueueAccess_Allow) != engine.is_in_queue_callback ||
        !engine.is_in_event) {
        violation("CommandRecordingState says whether the queue is accessed");
        return false;
    }
    *out = {};
    out->commandBuffer = engine.is_in_queue_callback ? VK_NULL_HANDLE : engine.commands;
    out->subPassIndex = engine.is_in_pass ? 0 : -1;
    out->renderPass = engine.is_in_pass ? engine.render_pass : VK_NULL_HANDLE;
    out->currentFrameNumber = engine.frame;
    out->safeFrameNumber = engine.safe_frame;
    return true;
}

/// At once in even frames, and later on another thread in odd ones: Unity promises neither.
void access_queue(UnityRenderingEventAndData callback, int event, void* data, bool flush) {
    if (!engine.is_in_event || engine.is_in_queue_callback)
        return violation("AccessQueue is called in events");
    if (flush) {
        end_commands();
        flush_commands();
    }
    const bool at_once = engine.frame % 2 == 0;
    ++(at_once ? engine.callbacks_at_once : engine.callbacks_later);
    engine.submissions.push_back([=] {
        engine.is_in_queue_callback = true;
        callback(event, data);
        engine.is_in_queue_callback = false;
    });
    if (at_once) run_submissions();
    if (flush) begin_commands();
}

VKAPI_ATTR VkResult VKAPI_CALL watched_submit(VkQueue queue, uint32_t count,
                                              const VkSubmitInfo* info, VkFence fence) {
    if (!engine.is_in_queue_callback)
        violation("the queue is used in callbacks of AccessQueue alone");
    return vkQueueSubmit(queue, count, info, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL watched_wait(VkDevice device) {
    if (!engine.may_wait) violation("the plugin waits for the device while frames run");
    return vkDeviceWaitIdle(device);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL watched_device_function(VkDevice device,
                                                                 const char* name) {
    if (std::strcmp(name, "vkQueueSubmit") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(watched_submit);
    if (std::strcmp(name, "vkDeviceWaitIdle") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(watched_wait);
    return vkGetDeviceProcAddr(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL watched_instance_function(VkInstance instance,
                                                                   const char* name) {
    if (std::strcmp(name, "vkGetDeviceProcAddr") == 0)
        return reinterpret_cast<PFN_vkVoidFunction>(watched_device_function);
    return vkGetInstanceProcAddr(instance, name);
}

UnityVulkanInstance instance() {
    UnityVulkanInstance out{};
    out.instance = engine.gpu.instance;
    out.physicalDevice = engine.gpu.physical;
    out.device = engine.gpu.device;
    out.graphicsQueue = engine.gpu.queue;
    out.getInstanceProcAddr = watched_instance_function;
    out.queueFamilyIndex = engine.gpu.queue_family;
    return out;
}

IUnityGraphics graphics;
IUnityGraphicsVulkan vulkan;

IUnityInterface* get_interface_split(unsigned long long high, unsigned long long low) {
    const auto is = [&](UnityInterfaceGUID guid) {
        return guid.m_GUIDHigh == high && guid.m_GUIDLow == low;
    };
    if (is(GetUnityInterfaceGUID<IUnityGraphics>())) return &graphics;
    return is(GetUnityInterfaceGUID<IUnityGraphicsVulkan>()) ? &vulkan : nullptr;
}

IUnityInterfaces make_interfaces() {
    graphics.GetRenderer = [] { return kUnityGfxRendererVulkan; };
    graphics.RegisterDeviceEventCallback = [](IUnityGraphicsDeviceEventCallback callback) {
        engine.on_device = callback;
    };
    graphics.UnregisterDeviceEventCallback = [](IUnityGraphicsDeviceEventCallback) {
        engine.on_device = nullptr;
    };
    graphics.ReserveEventIDRange = [](int) { return kReservedEvents; };
    vulkan.ConfigureEvent = [](int event, const UnityVulkanPluginEventConfig* config) {
        engine.configs[event] = *config;
    };
    vulkan.Instance = instance;
    vulkan.CommandRecordingState = recording_state;
    vulkan.AccessTexture = access_texture;
    vulkan.AccessBuffer = access_buffer;
    vulkan.EnsureOutsideRenderPass = [] {
        if (may_access()) end_pass();
    };
    vulkan.EnsureInsideRenderPass = [] {
        if (may_access() && !engine.is_in_pass) begin_pass();
    };
    vulkan.AccessQueue = access_queue;
    IUnityInterfaces out{};
    out.GetInterface = [](UnityInterfaceGUID guid) {
        return get_interface_split(guid.m_GUIDHigh, guid.m_GUIDLow);
    };
    out.GetInterfaceSplit = get_interface_split;
    return out;
}

/// CommandBuffer.IssuePluginEventAndData, on the render thread.
void issue_event(void (*function)(int, void*), int event, void* data) {
    const UnityVulkanPluginEventConfig config = engine.configs[event];
    if (config.renderPassPrecondition == kUnityVulkanRenderPass_EnsureOutside) end_pass();
    engine.is_in_event = true;
    function(event, data);
    engine.is_in_event = false;
}

// ---- What the plugin should compute ----

/// Waves on a membrane, as programs/save_programs.cpp writes them.
struct Waves {
    int height = 0, width = 0;
    std::vector<float> u, v;

    Waves(int h, int w) : height(h), width(w), u(size_t(h) * size_t(w)), v(u.size()) {
        for (int i = 0; i < h; ++i)
            for (int j = 0; j < w; ++j) {
                const float y = float(i - h / 2), x = float(j - w / 3);
                u[at(i, j)] = std::exp(-0.02f * (y * y + x * x));
            }
    }
    size_t at(int i, int j) const {
        return size_t(std::clamp(i, 0, height - 1)) * size_t(width) +
               size_t(std::clamp(j, 0, width - 1));
    }
    void step(float dt) {
        const std::vector<float> before = u;
        for (int i = 0; i < height; ++i)
            for (int j = 0; j < width; ++j) {
                const float around = before[at(i - 1, j)] + before[at(i + 1, j)] +
                                     before[at(i, j - 1)] + before[at(i, j + 1)];
                v[at(i, j)] += dt * (around - 4 * before[at(i, j)]);
                u[at(i, j)] += dt * v[at(i, j)];
            }
    }
};

// ---- The scene ----

struct PluginFunctions {
    void (*load)(IUnityInterfaces*);
    void (*unload)();
    decltype(&FirnLoad) load_program;
    decltype(&FirnUnload) unload_program;
    decltype(&FirnCall) make_call;
    decltype(&FirnRelease) release_call;
    decltype(&FirnBuffer) set_buffer;
    decltype(&FirnTexture) set_texture;
    decltype(&FirnParameter) set_parameter;
    decltype(&FirnEvent) event;
    decltype(&FirnEventId) event_id;
    decltype(&FirnIntoUnitysCommands) into_unitys_commands;
    decltype(&FirnError) error;
};

template <typename Function>
void find(Function& function, void* library, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function) stop("the plugin has no function %s", name);
}

PluginFunctions functions_of(void* library) {
    PluginFunctions out;
    find(out.load, library, "UnityPluginLoad");
    find(out.unload, library, "UnityPluginUnload");
    find(out.load_program, library, "FirnLoad");
    find(out.unload_program, library, "FirnUnload");
    find(out.make_call, library, "FirnCall");
    find(out.release_call, library, "FirnRelease");
    find(out.set_buffer, library, "FirnBuffer");
    find(out.set_texture, library, "FirnTexture");
    find(out.set_parameter, library, "FirnParameter");
    find(out.event, library, "FirnEvent");
    find(out.event_id, library, "FirnEventId");
    find(out.into_unitys_commands, library, "FirnIntoUnitysCommands");
    find(out.error, library, "FirnError");
    return out;
}

int needed(const PluginFunctions& plugin, int id) {
    char text[512] = "";
    plugin.error(text, sizeof text);
    if (id == 0) stop("unity_stand_in: %s", text);
    return id;
}

/// A membrane: its height in two textures and its speed in two buffers, which take turns.
struct Scene {
    Waves waves;
    std::unique_ptr<Resource> u[2], v[2];
    int calls[2];
    int steps = 0;
};

GpuBuffer staging;  // for the first values of a scene

Scene make_scene(const PluginFunctions& plugin, int program, int height, int width, double dt) {
    Scene out{Waves(height, width), {}, {}, {}, 0};
    const VkDeviceSize bytes = 4 * VkDeviceSize(height) * VkDeviceSize(width);
    for (int side = 0; side < 2; ++side) {
        out.u[side] = make_texture(uint32_t(width), uint32_t(height));
        out.v[side] = make_graphics_buffer(bytes);
    }
    staging = make_buffer(engine.gpu, bytes, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, true);
    std::memcpy(staging.data, out.waves.u.data(), size_t(bytes));
    use(*out.u[0], VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_ACCESS_TRANSFER_WRITE_BIT);
    VkBufferImageCopy copy{};
    copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    copy.imageExtent = out.u[0]->extent;
    vkCmdCopyBufferToImage(engine.commands, staging.buffer, out.u[0]->image, out.u[0]->layout, 1,
                           &copy);
    use(*out.v[0], VK_IMAGE_LAYOUT_UNDEFINED, VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_ACCESS_TRANSFER_WRITE_BIT);
    vkCmdFillBuffer(engine.commands, out.v[0]->buffer.buffer, 0, VK_WHOLE_SIZE, 0);
    const int ranks[] = {2, 2, 0};
    const int64_t extents[] = {height, width, height, width};
    for (int side = 0; side < 2; ++side) {
        const int call = out.calls[side] =
            needed(plugin, plugin.make_call(program, ranks, extents, 3));
        needed(plugin, plugin.set_texture(call, 0, 0, out.u[side].get()));
        needed(plugin, plugin.set_buffer(call, 0, 1, out.v[side].get()));
        needed(plugin, plugin.set_texture(call, 1, 0, out.u[1 - side].get()));
        needed(plugin, plugin.set_buffer(call, 1, 1, out.v[1 - side].get()));
        needed(plugin, plugin.set_parameter(call, "dt", &dt, 1));
    }
    return out;
}

void retire(const PluginFunctions& plugin, Scene& scene) {
    for (int side = 0; side < 2; ++side) {
        plugin.release_call(scene.calls[side]);
        retire(std::move(scene.u[side]));
        retire(std::move(scene.v[side]));
    }
}

/// Moves a buffer elsewhere, as the engine may at any time: its native pointer stays.
void move_buffer(Resource& resource) {
    auto old = std::make_unique<Resource>();
    use(resource, VK_IMAGE_LAYOUT_UNDEFINED, VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_ACCESS_TRANSFER_READ_BIT);
    *old = resource;
    resource.buffer = make_graphics_buffer(old->buffer.bytes)->buffer;
    resource.stages = VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT;
    resource.access = 0;
    use(resource, VK_IMAGE_LAYOUT_UNDEFINED, VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_ACCESS_TRANSFER_WRITE_BIT);
    const VkBufferCopy copy{0, 0, resource.buffer.bytes};
    vkCmdCopyBuffer(engine.commands, old->buffer.buffer, resource.buffer.buffer, 1, &copy);
    retire(std::move(old));
}

// ---- Frames ----

void make_engine() {
    make_gpu(engine.gpu, "unity_stand_in");
    VkCommandPoolCreateInfo pool{};
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.queueFamilyIndex = engine.gpu.queue_family;
    check(vkCreateCommandPool(engine.gpu.device, &pool, nullptr, &engine.pool),
          "vkCreateCommandPool");
    VkSubpassDescription subpass{};
    subpass.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS;
    VkRenderPassCreateInfo pass{};
    pass.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO;
    pass.subpassCount = 1;
    pass.pSubpasses = &subpass;
    check(vkCreateRenderPass(engine.gpu.device, &pass, nullptr, &engine.render_pass),
          "vkCreateRenderPass");
    VkFramebufferCreateInfo framebuffer{};
    framebuffer.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO;
    framebuffer.renderPass = engine.render_pass;
    framebuffer.width = framebuffer.height = 16;
    framebuffer.layers = 1;
    check(vkCreateFramebuffer(engine.gpu.device, &framebuffer, nullptr, &engine.framebuffer),
          "vkCreateFramebuffer");
    for (Frame& frame : engine.frames) {
        VkFenceCreateInfo fence{};
        fence.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
        fence.flags = VK_FENCE_CREATE_SIGNALED_BIT;
        check(vkCreateFence(engine.gpu.device, &fence, nullptr, &frame.fence), "vkCreateFence");
        frame.read_back = make_buffer(engine.gpu, 1 << 20, VK_BUFFER_USAGE_TRANSFER_DST_BIT, true);
    }
}

/// Waits for a frame, and compares what it read back.
void finish(Frame& frame, unsigned long long number) {
    check(vkWaitForFences(engine.gpu.device, 1, &frame.fence, VK_TRUE, UINT64_MAX),
          "vkWaitForFences");
    const float* values = static_cast<const float*>(frame.read_back.data);
    for (size_t k = 0; k < frame.expected.size(); ++k) {
        const double difference = std::abs(double(values[k]) - double(frame.expected[k]));
        // Not a number is no small difference.
        if (!(difference <= engine.largest_difference)) engine.largest_difference = difference;
    }
    if (!frame.expected.empty()) ++engine.compared;
    frame.expected.clear();
    if (!frame.commands.empty())
        vkFreeCommandBuffers(engine.gpu.device, engine.pool, uint32_t(frame.commands.size()),
                             frame.commands.data());
    frame.commands.clear();
    engine.safe_frame = std::max(engine.safe_frame, number);
    destroy_retired();
}

void begin_frame() {
    ++engine.frame;
    Frame& frame = engine.frames[engine.frame % kFramesInFlight];
    finish(frame, engine.frame > kFramesInFlight ? engine.frame - kFramesInFlight : 0);
    check(vkResetFences(engine.gpu.device, 1, &frame.fence), "vkResetFences");
    begin_commands();
}

void end_frame() {
    end_commands();
    flush_commands();
    engine.submissions.push_back(
        [] { submit(VK_NULL_HANDLE, engine.frames[engine.frame % kFramesInFlight].fence); });
    run_submissions();
}

void read_back(Resource& texture, const std::vector<float>& expected) {
    Frame& frame = engine.frames[engine.frame % kFramesInFlight];
    use(texture, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_PIPELINE_STAGE_TRANSFER_BIT,
        VK_ACCESS_TRANSFER_READ_BIT);
    VkBufferImageCopy copy{};
    copy.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    copy.imageExtent = texture.extent;
    vkCmdCopyImageToBuffer(engine.commands, texture.image, texture.layout, frame.read_back.buffer,
                           1, &copy);
    VkMemoryBarrier barrier{};
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vkCmdPipelineBarrier(engine.commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
    frame.expected = expected;
}

void destroy_engine() {
    for (Frame& frame : engine.frames) {
        vkDestroyFence(engine.gpu.device, frame.fence, nullptr);
        destroy_buffer(engine.gpu, frame.read_back);
    }
    destroy_buffer(engine.gpu, staging);
    vkDestroyFramebuffer(engine.gpu.device, engine.framebuffer, nullptr);
    vkDestroyRenderPass(engine.gpu.device, engine.render_pass, nullptr);
    vkDestroyCommandPool(engine.gpu.device, engine.pool, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
    const bool into_unitys_commands =
        argc == 4 && std::strcmp(argv[3], "--into-unitys-commands") == 0;
    if (argc < 3 || (argc > 3 && !into_unitys_commands))
        stop("usage: unity_stand_in PLUGIN.so wave.firn [--into-unitys-commands]");
    std::ifstream in(argv[2], std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    constexpr unsigned long long kFrames = 40, kResize = 17, kMove = 26;
    constexpr float dt = 0.3f;

    make_engine();
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) stop("%s", dlerror());
    const PluginFunctions plugin = functions_of(library);
    IUnityInterfaces interfaces = make_interfaces();
    plugin.load(&interfaces);
    const int program = needed(plugin, plugin.load_program(file.data(), int(file.size())));
    plugin.into_unitys_commands(into_unitys_commands);

    std::unique_ptr<Scene> scene;
    for (unsigned long long frame = 1; frame <= kFrames; ++frame) {
        begin_frame();
        if (frame == 1) scene = std::make_unique<Scene>(make_scene(plugin, program, 64, 48, dt));
        if (frame == kResize) {
            retire(plugin, *scene);
            destroy_buffer(engine.gpu, staging);  // frames that used it are complete
            scene = std::make_unique<Scene>(make_scene(plugin, program, 40, 72, dt));
        }
        if (frame == kMove) move_buffer(*scene->v[scene->steps % 2]);
        begin_pass();  // the engine draws
        const int call = scene->calls[scene->steps % 2];
        issue_event(plugin.event(), plugin.event_id(), reinterpret_cast<void*>(intptr_t(call)));
        scene->waves.step(dt);
        ++scene->steps;
        read_back(*scene->u[scene->steps % 2], scene->waves.u);
        end_frame();
    }
    for (unsigned long long frame = kFrames - kFramesInFlight + 1; frame <= kFrames; ++frame)
        finish(engine.frames[frame % kFramesInFlight], frame);
    retire(plugin, *scene);
    plugin.unload_program(program);

    char text[512] = "";
    const int errors = plugin.error(text, sizeof text);
    engine.may_wait = true;
    if (engine.on_device) engine.on_device(kUnityGfxDeviceEventShutdown);
    destroy_retired();
    plugin.unload();
    if (engine.on_device) violation("the plugin takes its callback back when it is unloaded");
    dlclose(library);
    const bool is_gone = !dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) &&
                         !dlopen("libfirn_runtime.so.1", RTLD_NOW | RTLD_NOLOAD);
    destroy_engine();

    std::printf("%d frames compared, %d callbacks at once, %d later\n", engine.compared,
                engine.callbacks_at_once, engine.callbacks_later);
    std::printf("largest difference %g\n", engine.largest_difference);
    std::printf("%d errors of the plugin%s%s\n", errors, errors ? ", the last: " : "", text);
    std::printf("%d rules broken; the plugin is %s\n", engine.violations,
                is_gone ? "unloaded" : "still loaded");
    const int code = destroy_gpu(engine.gpu);
    return engine.violations || errors || !is_gone || !(engine.largest_difference < 1e-5) ? 1
                                                                                          : code;
}
