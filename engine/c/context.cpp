// Contexts of the C interface: on a host's device, and on one of Firn's own.
#include <algorithm>

#include "compiler/program/vulkan_limits.h"
#include "engine/c/handles.h"

namespace firn::c {
namespace {

std::vector<std::string> names(const char* const* list, uint32_t count, const char* what) {
    if (count > 0 && !list) fail(std::string(what) + " is NULL and has a count");
    std::vector<std::string> out;
    for (uint32_t k = 0; k < count; ++k) {
        if (!list[k]) fail(std::string(what) + " has a NULL at place " + std::to_string(k));
        out.emplace_back(list[k]);
    }
    return out;
}

void make_parts(firn_context& context) {
    context.device_name = context.device->info().name;
    if (!context.device->queue()) return;
    context.executor = std::make_shared<VulkanExecutor>(context.device);
    context.commands = std::make_unique<CommandPool>(*context.device, "calls");
}

HostDevice host_device(const firn_host& host) {
    HostDevice out;
    out.instance = static_cast<VkInstance>(host.instance);
    out.physical = static_cast<VkPhysicalDevice>(host.physical_device);
    out.device = static_cast<VkDevice>(host.device);
    out.get_instance_proc_addr =
        reinterpret_cast<PFN_vkGetInstanceProcAddr>(host.get_instance_proc_addr);
    out.api_version = host.api_version;
    out.instance_extensions = names(host.instance_extensions, host.instance_extension_count,
                                    "firn_host.instance_extensions");
    out.extensions = names(host.extensions, host.extension_count, "firn_host.extensions");
    out.features = host.features;
    out.core_features = static_cast<const VkPhysicalDeviceFeatures*>(host.core_features);
    out.queue = static_cast<VkQueue>(host.queue);
    out.queue_family = host.queue_family;
    if (!host.lock_queue != !host.unlock_queue)
        fail("firn_host has one of lock_queue and unlock_queue; give both, or none");
    if (host.lock_queue) {
        out.lock_queue = [lock = host.lock_queue, user = host.user] { lock(user); };
        out.unlock_queue = [unlock = host.unlock_queue, user = host.user] { unlock(user); };
    }
    out.allocator = static_cast<const VkAllocationCallbacks*>(host.allocator);
    out.pipeline_cache = (VkPipelineCache)host.pipeline_cache;
    if (host.cache_folder) out.cache_directory = host.cache_folder;
    if (host.flags & ~(FIRN_HOST_MAY_PROBE | FIRN_HOST_STORAGE_BUFFERS_ONLY))
        fail("firn_host.flags has a bit that this library does not know; use a newer one");
    out.may_probe = host.flags & FIRN_HOST_MAY_PROBE;
    if (host.flags & FIRN_HOST_STORAGE_BUFFERS_ONLY)
        out.limit = [](DeviceProfile profile) {
            profile.view_loads = profile.buffer_addresses = false;
            profile.max_views = 0;
            return profile;
        };
    return out;
}

/// Makes a context by `fill`; an error becomes a code and its text the message.
template <class Fill>
int32_t create(firn_context** context, char* message, size_t room, Fill fill) noexcept {
    copy_text("", message, room);
    try {
        if (!context) fail("the place for the context is NULL; give one");
        *context = nullptr;
        auto made = std::make_unique<firn_context>();
        fill(*made);
        *context = made.release();
        return FIRN_OK;
    } catch (...) {
        const Failure failure = current_failure(FIRN_ERROR_ARGUMENT);
        copy_text(failure.text, message, room);
        return failure.code;
    }
}

}  // namespace
}  // namespace firn::c

using namespace firn::c;

uint32_t firn_version(void) { return FIRN_LIBRARY_VERSION; }

const char* firn_code_name(int32_t code) {
    switch (code) {
        case FIRN_OK: return "FIRN_OK";
        case FIRN_ERROR_ARGUMENT: return "FIRN_ERROR_ARGUMENT";
        case FIRN_ERROR_FILE: return "FIRN_ERROR_FILE";
        case FIRN_ERROR_UNSUPPORTED: return "FIRN_ERROR_UNSUPPORTED";
        case FIRN_ERROR_DEVICE: return "FIRN_ERROR_DEVICE";
        case FIRN_ERROR_DEVICE_LOST: return "FIRN_ERROR_DEVICE_LOST";
        case FIRN_ERROR_OUT_OF_MEMORY: return "FIRN_ERROR_OUT_OF_MEMORY";
        case FIRN_ERROR_IN_USE: return "FIRN_ERROR_IN_USE";
        case FIRN_ERROR_BUSY: return "FIRN_ERROR_BUSY";
        case FIRN_ERROR_INTERNAL: return "FIRN_ERROR_INTERNAL";
        default: return "unknown";
    }
}

int32_t firn_context_create(const firn_host* host, firn_context** context, char* message,
                            size_t room) {
    return create(context, message, room, [&](firn_context& made) {
        const firn_host given = taken(host, "firn_host");
        made.device = firn::Device::adopt(host_device(given));
        made.log = given.log;
        made.user = given.user;
        make_parts(made);
    });
}

int32_t firn_context_create_own(const firn_own* own, firn_context** context, char* message,
                                size_t room) {
    return create(context, message, room, [&](firn_context& made) {
        const firn_own given = own ? taken(own, "firn_own") : firn_own{};
        firn::DeviceOptions options;
        if (given.device) options.device = given.device;
        if (given.cache_folder) options.cache_directory = given.cache_folder;
        options.validation = given.validation != 0;
        options.is_hosted = true;
        if (given.flags & ~FIRN_OWN_NO_FEATURES)
            fail("firn_own.flags has a bit that this library does not know; use a newer one");
        if (given.flags & FIRN_OWN_NO_FEATURES)
            options.limit = [](const firn::DeviceProfile& profile) {
                firn::DeviceProfile least = firn::least(profile);
                least.view_loads = least.rounds_exactly = false;
                least.max_views = 0;
                return least;
            };
        if (given.log)
            options.on_message = [log = given.log, user = given.user](const std::string& text) {
                log(user, FIRN_LOG_WARNING, text.c_str());
            };
        made.device = firn::Device::create(options);
        made.log = given.log;
        made.user = given.user;
        make_parts(made);
    });
}

int32_t firn_context_handles(firn_context* context, firn_handles* handles) {
    return guarded(context, [&] {
        firn_handles out{};
        out.queue_family = context->device->queue_family();
        out.instance = context->device->instance().handle();
        out.physical_device = context->device->physical();
        out.device = context->device->handle();
        out.queue = context->device->queue();
        give(handles, out, "firn_handles");
    });
}

const char* firn_context_device(firn_context* context) {
    return context ? context->device_name.c_str() : "";
}

const char* firn_message(firn_context* context) { return context ? context->message.c_str() : ""; }

int32_t firn_status(firn_context* context) {
    return context ? context->status : FIRN_ERROR_ARGUMENT;
}

int32_t firn_collect(firn_context* context, uint64_t frame) {
    return guarded(context, [&] {
        context->frame_done = std::max(context->frame_done, frame);
        context->device->frames_done(frame);
        context->collect();
    });
}

int32_t firn_context_destroy(firn_context* context) {
    if (!context) return FIRN_OK;
    const int32_t code = guarded(context, [&] {
        const auto counted = [](size_t count, const char* what) {
            return count == 0 ? std::string()
                              : " " + std::to_string(count) + " " + what + (count > 1 ? "s" : "");
        };
        const std::string left =
            counted(context->programs, "program") + counted(context->calls, "call") +
            counted(context->buffers, "buffer") + counted(context->images, "image");
        if (!left.empty())
            fail(FIRN_ERROR_IN_USE, "the context still has" + left + "; release them first");
    });
    if (code != FIRN_OK) return code;
    if (context->device->queue()) context->device->wait_until_idle();
    context->retired.clear();
    context->pixel_pipelines.clear();
    context->commands.reset();
    context->executor.reset();
    delete context;  // the device runs what was deferred
    return FIRN_OK;
}
