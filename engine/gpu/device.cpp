// A Vulkan device with its one queue and its timeline.
#include "engine/gpu/device.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "compiler/base/error.h"
#include "compiler/base/long_work.h"
#include "engine/gpu/buffer.h"
#include "engine/gpu/commands.h"
#include "engine/gpu/device_extensions.h"
#include "engine/gpu/matrix_unit.h"
#include "engine/gpu/pipeline_cache.h"
#include "engine/gpu/profile.h"
#include "engine/gpu/rates.h"

namespace firn {
namespace {

/// Nanoseconds between two calls of a wait's callback.
constexpr uint64_t kWaitSlice = 100'000'000;

}  // namespace

std::shared_ptr<Device> Device::create(const DeviceOptions& options) {
    std::shared_ptr<Device> device(new Device, DeleteInOwnProcess());
    device->instance_ = std::make_unique<Instance>(
        InstanceOptions{options.surfaces, options.instance_extensions, options.validation,
                        options.on_message, options.on_instance_functions, options.is_hosted});
    device->info_ =
        choose_device(list_devices(*device->instance_), options.device, options.other_devices);
    device->map_memory_ = options.map_memory;
    device->fill_memory_ = options.fill_memory;
    device->choose_queue(options);
    device->create_handle(options);
    device->timeline_ = std::make_unique<Timeline>(*device, true);
    device->make_parts(options.cache_directory, VK_NULL_HANDLE);
    device->probe(device, options.cache_directory);
    if (device->profile_.view_loads)
        device->profile_.view_loads = options.measure_rates
                                          ? probe_texel_rate(device, options.cache_directory)
                                          : device->profile_.device_class == DeviceClass::CpuDriver;
    if (options.measure_rates)
        if (const auto rates = probe_rates(device, options.cache_directory))
            set_rates(device->profile_, *rates);
    if (options.limit) device->profile_ = options.limit(device->profile_);
    static const bool ends_children = end_children_in_time();
    (void)ends_children;
    return device;
}

std::shared_ptr<Device> Device::adopt(const HostDevice& host) {
    std::shared_ptr<Device> device(new Device, DeleteInOwnProcess());
    device->is_of_host_ = true;
    device->may_probe_ = host.may_probe && host.queue;
    device->instance_ = std::make_unique<Instance>(host);
    device->info_ = describe_device(*device->instance_, host.physical);
    if (host.allocator) device->allocator_ = *host.allocator;
    device->take_queue(host);
    device->take_handle(host);
    device->make_parts(host.cache_directory, host.pipeline_cache);
    device->probe(device, host.cache_directory);
    device->profile_.view_loads &= device->profile_.device_class == DeviceClass::CpuDriver;
    if (host.limit) device->profile_ = host.limit(device->profile_);
    return device;
}

void Device::make_parts(const std::string& cache_directory, VkPipelineCache pipelines) {
    pipeline_cache_ = std::make_unique<PipelineCache>(*this, cache_directory, pipelines);
    memory_ = std::make_unique<MemoryPool>(*this);
    if (queue_) transfers_ = std::make_unique<CommandPool>(*this, "transfers");
}

/// Finds out what the driver says of itself and gets wrong.
void Device::probe(const std::shared_ptr<Device>& self, const std::string& cache_directory) {
    if (profile_.device_class == DeviceClass::CpuDriver)
        profile_.max_back_edges = probe_back_edges(self, cache_directory);
    profile_.subgroup_shuffle = probe_subgroup_numbers(self, cache_directory);
    profile_.compares_widened = probe_widened_integers(self, cache_directory);
    profile_.rounds_exactly = probe_rounding(self, cache_directory);
    if (!probe_matrix_unit(self, cache_directory)) profile_.matrix_unit = {};
}

Device::~Device() {
    if (!handle_) return;
    enqueued_.clear();  // their results are not readable any more
    wait_until_idle();
    transfers_.reset();
    while (!deferred_.empty()) {
        auto destroy = std::move(deferred_.front().destroy);
        deferred_.pop_front();
        destroy();
    }
    memory_.reset();
    pipeline_cache_.reset();
    timeline_.reset();
    if (!is_of_host_) table_.vkDestroyDevice(handle_, nullptr);
}

/// Chooses one queue family for everything: kernels, copies and, if windows may be opened, frames.
void Device::choose_queue(const DeviceOptions& options) {
    const InstanceTable& vk = instance_->functions();
    const std::vector<VkQueueFamilyProperties> families = queue_families(vk, info_.handle);
    int best = -1;
    for (uint32_t family = 0; family < families.size(); ++family) {
        VkQueueFlags flags = families[family].queueFlags;
        if (!(flags & VK_QUEUE_COMPUTE_BIT)) continue;
        bool graphics = flags & VK_QUEUE_GRAPHICS_BIT;
        bool presents = options.surfaces != SurfaceSupport::None && graphics &&
                        (!options.can_present ||
                         options.can_present(instance_->handle(), info_.handle, family));
        int score = (presents ? 4 : 0) + (graphics ? 2 : 0) +
                    (families[family].timestampValidBits > 0 ? 1 : 0);
        if (score <= best) continue;
        best = score;
        queue_family_ = family;
        can_present_ = presents;
    }
    ensure(best >= 0, "a device without a compute queue was chosen");
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    vk.vkGetPhysicalDeviceProperties2(info_.handle, &properties);
    limits_ = properties.properties.limits;
    if (families[queue_family_].timestampValidBits > 0) timestamp_period_ = limits_.timestampPeriod;
}

void Device::create_handle(const DeviceOptions& options) {
    const InstanceTable& vk = instance_->functions();
    DeviceExtensions used = extensions_among(names_of_extensions(vk, info_.handle));
    has_memory_budget_ = used.memory_budget;
    can_present_ = can_present_ && instance_->has_extension("VK_KHR_surface") && used.swapchain;
    used.swapchain = can_present_;
    const std::vector<const char*> extensions = names_of(used);
    if (options.surfaces == SurfaceSupport::Required && !can_present_)
        throw DeviceError("device '" + info_.name +
                          "' cannot present to a window; choose another device or run headless");

    DeviceFeatures features(vk, info_.handle, used);
    has_addresses_ = features.vulkan12.bufferDeviceAddress;
    full_subgroups_ = features.subgroup_sizes.computeFullSubgroups;
    profile_ = query_profile(vk, info_, features);
    float priority = 1;
    VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue.queueFamilyIndex = queue_family_;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features.core};
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    check(vk.vkCreateDevice(info_.handle, &info, nullptr, &handle_), "vkCreateDevice", info_.name);
    volkLoadDeviceTable(&table_, handle_);
    if (options.on_device_functions) options.on_device_functions(table_);
    table_.vkGetDeviceQueue(handle_, queue_family_, 0, &queue_);
    set_name(queue_, VK_OBJECT_TYPE_QUEUE, "queue");
}

/// Only the functions that the engine calls on a host's device are loaded.
void Device::take_handle(const HostDevice& host) {
    has_memory_budget_ = extensions_among(host.extensions).memory_budget;
    const DeviceFeatures features(instance_->functions(), info_.handle, host);
    has_addresses_ = features.vulkan12.bufferDeviceAddress;
    full_subgroups_ = features.subgroup_sizes.computeFullSubgroups;
    profile_ = query_profile(instance_->functions(), info_, features);
    const auto load = [&](const char* name) {
        const auto function = instance_->functions().vkGetDeviceProcAddr(host.device, name);
        if (!function)
            throw DeviceError("the host's device '" + info_.name + "' has no function " + name +
                              ", which Vulkan 1.2 has; give the handles of one device");
        return function;
    };
#define FIRN_LOAD(name) table_.name = reinterpret_cast<PFN_##name>(load(#name));
    FIRN_DEVICE_FUNCTIONS(FIRN_LOAD)
#undef FIRN_LOAD
    handle_ = host.device;
    timeline_ = std::make_unique<Timeline>(*this, features.vulkan12.timelineSemaphore);
}

void Device::take_queue(const HostDevice& host) {
    const InstanceTable& vk = instance_->functions();
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    vk.vkGetPhysicalDeviceProperties2(info_.handle, &properties);
    limits_ = properties.properties.limits;
    if (!host.queue) return;
    const std::vector<VkQueueFamilyProperties> families = queue_families(vk, info_.handle);
    const std::string family = "queue family " + std::to_string(host.queue_family);
    if (host.queue_family >= families.size())
        throw UserError(family + " was given for the host's queue, and '" + info_.name + "' has " +
                        std::to_string(families.size()) + "; give that of the queue");
    if (!(families[host.queue_family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        throw UserError(family + " of '" + info_.name +
                        "' runs no kernels; give a queue of a family that computes");
    queue_ = host.queue;
    queue_family_ = host.queue_family;
    lock_queue_ = host.lock_queue;
    unlock_queue_ = host.unlock_queue;
    if (families[queue_family_].timestampValidBits > 0) timestamp_period_ = limits_.timestampPeriod;
}

void Device::require_here() const {
    if (!is_here()) throw UserError(why_not_here());
}

TimelinePoint Device::submit(std::span<const VkCommandBuffer> commands,
                             std::span<const SemaphoreWait> waits,
                             std::span<const SemaphoreSignal> signals) {
    collect();
    std::lock_guard lock(queue_mutex_);
    return submit_locked(commands, waits, signals);
}

TimelinePoint Device::enqueue(VkCommandBuffer commands) {
    collect();
    std::lock_guard lock(queue_mutex_);
    if (enqueued_.size() + 1 >= batch_limit_) return submit_locked({&commands, 1}, {}, {});
    enqueued_.push_back(commands);
    return submitted_ + 1;
}

void Device::set_batch_limit(size_t commands) {
    batch_limit_ = std::max<size_t>(commands, 1);
    if (enqueued_.size() >= batch_limit_) flush();
}

void Device::flush() {
    require_here();
    std::lock_guard lock(queue_mutex_);
    if (!enqueued_.empty()) submit_locked({}, {}, {});
}

TimelinePoint Device::last_submitted() const {
    require_here();
    std::lock_guard lock(queue_mutex_);
    return submitted_ + (enqueued_.empty() ? 0 : 1);
}

TimelinePoint Device::submit_locked(std::span<const VkCommandBuffer> commands,
                                    std::span<const SemaphoreWait> waits,
                                    std::span<const SemaphoreSignal> signals) {
    refuse_lost();
    if (!queue_)
        throw UserError("Firn has no queue of the host's device '" + info_.name +
                        "' and can submit nothing; record into a command buffer of the host's, or "
                        "give a queue");
    TimelinePoint point = submitted_ + 1;
    std::vector<VkSemaphore> wait_semaphores, signal_semaphores;
    std::vector<uint64_t> wait_values, signal_values;  // binary semaphores ignore theirs
    std::vector<VkPipelineStageFlags> stages;
    for (const SemaphoreWait& wait : waits) {
        wait_semaphores.push_back(wait.semaphore);
        wait_values.push_back(wait.value);
        stages.push_back(wait.stage);
    }
    if (timeline_->semaphore()) {
        signal_semaphores.push_back(timeline_->semaphore());
        signal_values.push_back(point);
    }
    for (const SemaphoreSignal& signal : signals) {
        signal_semaphores.push_back(signal.semaphore);
        signal_values.push_back(signal.value);
    }
    std::vector<VkCommandBuffer> batch = enqueued_;
    batch.insert(batch.end(), commands.begin(), commands.end());
    VkTimelineSemaphoreSubmitInfo timeline{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
    timeline.waitSemaphoreValueCount = static_cast<uint32_t>(wait_values.size());
    timeline.pWaitSemaphoreValues = wait_values.data();
    timeline.signalSemaphoreValueCount = static_cast<uint32_t>(signal_values.size());
    timeline.pSignalSemaphoreValues = signal_values.data();
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    if (timeline_->semaphore()) info.pNext = &timeline;
    info.waitSemaphoreCount = static_cast<uint32_t>(wait_semaphores.size());
    info.pWaitSemaphores = wait_semaphores.data();
    info.pWaitDstStageMask = stages.data();
    info.commandBufferCount = static_cast<uint32_t>(batch.size());
    info.pCommandBuffers = batch.data();
    info.signalSemaphoreCount = static_cast<uint32_t>(signal_semaphores.size());
    info.pSignalSemaphores = signal_semaphores.data();
    const VkFence fence = timeline_->take_fence();
    const VkResult result = submit_to_queue(info, fence);
    if (result != VK_SUCCESS) timeline_->give_back(fence);
    check(result, "vkQueueSubmit", "the queue");
    timeline_->submitted(point, fence);
    enqueued_.clear();
    submitted_ = point;
    return point;
}

VkResult Device::submit_to_queue(const VkSubmitInfo& info, VkFence fence) const {
    if (lock_queue_) lock_queue_();
    const VkResult result = table_.vkQueueSubmit(queue_, 1, &info, fence);
    if (unlock_queue_) unlock_queue_();
    return result;
}

void Device::refuse_lost() const {
    require_here();
    const std::string cause = suspect_.empty() ? "" : ", perhaps because of " + suspect_;
    if (given_up_ != 0)
        throw DeviceError("device '" + info_.name + "' did not finish its work within " +
                          std::to_string(std::lround(given_up_)) + " s" + cause +
                          "; it counts as lost");
    if (const char* call = lost_in_)
        throw DeviceError("device '" + info_.name + "' is lost: " + call +
                          " failed: VK_ERROR_DEVICE_LOST" + cause +
                          "; nothing runs on it any more, so make a new session");
}

void Device::watch_waits(std::function<void(double seconds)> watch) { watch_ = std::move(watch); }

void Device::give_up(double seconds) {
    given_up_ = std::max(seconds, 1.0);
    lost_in_ = "a wait without end";
    refuse_lost();
    throw InternalError("a device was given up and is not lost");
}

void Device::check(VkResult result, const char* call, std::string_view object) const {
    const char* before = nullptr;
    if (result == VK_ERROR_DEVICE_LOST) lost_in_.compare_exchange_strong(before, call);
    if (result == VK_ERROR_DEVICE_LOST) refuse_lost();
    firn::check(result, call, object);
}

bool Device::wait_until_idle() noexcept {
    if (!is_here()) return false;
    constexpr int kTries = 3;
    for (int tries = 0; tries < kTries; ++tries) {
        try {
            flush();
            if (is_of_host_) {
                if (submitted_ > 0) wait(submitted_);
                return true;
            }
            std::lock_guard lock(queue_mutex_);
            check(table_.vkDeviceWaitIdle(handle_), "vkDeviceWaitIdle", "the device");
            return true;
        } catch (const std::exception&) {
            if (lost_in_) break;
        }
    }
    if (!lost_in_) return false;
    if (is_of_host_) return true;
    (void)table_.vkDeviceWaitIdle(handle_);  // the work of a lost device has ended, or never will
    return true;
}

TimelinePoint Device::completed() const {
    refuse_lost();
    TimelinePoint point = 0;
    check(timeline_->completed(point),
          timeline_->semaphore() ? "vkGetSemaphoreCounterValue" : "vkGetFenceStatus",
          "the timeline");
    return point;
}

void Device::wait(TimelinePoint point) {
    refuse_lost();
    if (point == 0) return;
    {
        std::lock_guard lock(queue_mutex_);
        if (point > submitted_ && !enqueued_.empty()) submit_locked({}, {}, {});
        ensure(point <= submitted_, "a point was waited for that nothing submitted will reach");
    }
    check(wait_on_timeline(point), timeline_->semaphore() ? "vkWaitSemaphores" : "vkWaitForFences",
          "the timeline");
}

VkResult Device::wait_on_timeline(TimelinePoint point) {
    const uint64_t slice = watch_ || CancelScope::is_open() ? kWaitSlice : UINT64_MAX;
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
        const VkResult result = timeline_->wait(point, slice);
        if (result != VK_TIMEOUT) return result;
        CancelScope::end_if_asked("waiting for", info_.name);
        if (watch_)
            watch_(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
}

/// If there is no memory to record a deferred destruction, it waits until the device is idle.
void Device::defer_later(std::function<void()>& destroy) noexcept {
    try {
        const TimelinePoint point = last_submitted();
        std::lock_guard lock(deferred_mutex_);
        deferred_.emplace_back().point = point;
        deferred_.back().frame = frame_;
        deferred_.back().destroy.swap(destroy);
    } catch (const std::bad_alloc&) {
        if (wait_until_idle()) destroy();
    }
}

void Device::collect() {
    {
        std::lock_guard lock(deferred_mutex_);
        if (deferred_.empty()) return;
    }
    const TimelinePoint done = completed();
    for (;;) {
        std::function<void()> destroy;
        {
            std::lock_guard lock(deferred_mutex_);
            if (deferred_.empty() || deferred_.front().point > done ||
                deferred_.front().frame > frame_done_)
                return;
            destroy.swap(deferred_.front().destroy);
            deferred_.pop_front();
        }
        destroy();  // unlocked, because it may call defer itself
    }
}

void Device::in_frame(uint64_t frame) {
    std::lock_guard lock(deferred_mutex_);
    frame_ = std::max(frame_, frame);
}

void Device::frames_done(uint64_t frame) {
    {
        std::lock_guard lock(deferred_mutex_);
        frame_done_ = std::max(frame_done_, frame);
    }
    collect();
}

void Device::set_object_name(uint64_t object, VkObjectType type,
                             const std::string& name) const noexcept {
    auto set = instance_->functions().vkSetDebugUtilsObjectNameEXT;
    if (!set) return;
    VkDebugUtilsObjectNameInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT};
    info.objectType = type;
    info.objectHandle = object;
    info.pObjectName = name.c_str();
    (void)set(handle_, &info);
}

}  // namespace firn
