// A Vulkan device with its one queue and its timeline, on which all other objects of the engine are
// made: one of Firn's own, or one of a host.
#pragma once
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/own_process.h"
#include "compiler/program/device_profile.h"
#include "engine/gpu/host_device.h"
#include "engine/gpu/instance.h"
#include "engine/gpu/timeline.h"

namespace firn {

class CommandPool;
class MemoryPool;
class Pipeline;
class PipelineCache;

struct DeviceOptions {
    /// See choose_device. The environment (FIRN_DEVICE) is read by the caller, not here.
    std::string device;
    /// Returns lines of devices that are no Vulkan devices, for the message that lists them all.
    std::function<std::string()> other_devices;
    SurfaceSupport surfaces = SurfaceSupport::None;
    std::vector<std::string> instance_extensions;
    /// Returns whether a queue family can present; absent: families with graphics are assumed to.
    std::function<bool(VkInstance, VkPhysicalDevice, uint32_t family)> can_present;
    bool validation = false;
    /// See InstanceOptions::on_message.
    std::function<void(const std::string&)> on_message;
    /// The directory in which pipelines are kept between runs; empty: none.
    std::string cache_directory;
    /// False: the host copies through staging buffers even where it could reach the memory of
    /// kernels, as on a discrete GPU.
    bool map_memory = true;
    /// Fills new memory of kernels with kFilledWord, which makes reads of elements that no kernel
    /// has written visible.
    bool fill_memory = false;
    /// The rates of the profile, and whether texel views load faster, are measured when they are
    /// not cached (engine/gpu/rates.h); else they are those of the device's class.
    bool measure_rates = false;
    /// Called with the functions before their first use: a test replaces some.
    std::function<void(InstanceTable&)> on_instance_functions;
    std::function<void(VolkDeviceTable&)> on_device_functions;
    /// Leaves the process as it was at the end of the device: no driver stays loaded; for a library
    /// that a host loads and unloads.
    bool is_hosted = false;
    /// Reduces the profile that the compiler gets, for tests. Absent: the full profile.
    std::function<DeviceProfile(const DeviceProfile&)> limit;
};

/// A semaphore that a submission waits for, with the stage that waits.
struct SemaphoreWait {
    VkSemaphore semaphore = VK_NULL_HANDLE;
    VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    uint64_t value = 0;  // of a timeline semaphore; not used for others
};

/// A semaphore that a submission signals when it is complete.
struct SemaphoreSignal {
    VkSemaphore semaphore = VK_NULL_HANDLE;
    uint64_t value = 0;  // of a timeline semaphore; not used for others
};

/// The pipelines that live on a device, by all that they are made of; see shared_pipeline.
struct SharedPipelines {
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<const Pipeline>> entries;
};

/// Owns a VkDevice, or uses that of a host. One thread records and submits at a time (submit, defer
/// and the memory pool lock); everything else may be read from several threads.
class Device {
  public:
    /// Throws DeviceError (no loader, no driver, missing feature), UserError (no such device: lists
    /// them).
    static std::shared_ptr<Device> create(const DeviceOptions& options = {});
    /// Uses the device of a host, and nothing of it that the host does not state. Waits for nothing
    /// but its own submissions, and destroys only what it made. Throws UserError (a handle is
    /// missing, the version is below 1.2, the queue computes nothing) or DeviceError.
    static std::shared_ptr<Device> adopt(const HostDevice& host);
    /// Waits for all work of its own, then destroys the remaining objects. Is not called in a child
    /// of fork(), where they stay.
    ~Device();
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    const Instance& instance() const { return *instance_; }
    const DeviceInfo& info() const { return info_; }
    const DeviceProfile& profile() const { return profile_; }
    VkPhysicalDevice physical() const { return info_.handle; }
    VkDevice handle() const { return handle_; }
    /// Device functions: device.vk().vkCmdDispatch(...).
    const VolkDeviceTable& vk() const { return table_; }
    /// Null: that of a host which lets Firn submit nothing.
    VkQueue queue() const { return queue_; }
    /// For the objects that are made on it; null: the driver's own.
    const VkAllocationCallbacks* allocator() const { return allocator_ ? &*allocator_ : nullptr; }
    /// See HostDevice::may_probe.
    bool may_probe() const { return may_probe_; }
    uint32_t queue_family() const { return queue_family_; }
    /// Surfaces can be presented from the queue.
    bool can_present() const { return can_present_; }
    PipelineCache& pipeline_cache() const { return *pipeline_cache_; }
    SharedPipelines& shared_pipelines() const { return shared_pipelines_; }
    MemoryPool& memory() const { return *memory_; }
    /// The pool for the device's own copies; see submit_once.
    CommandPool& transfers() const { return *transfers_; }
    /// Returns whether the driver reports how much of its memory is free.
    bool has_memory_budget() const { return has_memory_budget_; }
    /// Returns whether buffers have addresses that kernels may use.
    bool has_addresses() const { return has_addresses_; }
    /// Returns whether a pipeline may require subgroups without idle lanes.
    bool full_subgroups() const { return full_subgroups_; }
    /// See DeviceOptions::map_memory.
    bool map_memory() const { return map_memory_; }
    /// See DeviceOptions::fill_memory.
    bool fill_memory() const { return fill_memory_; }
    /// Nanoseconds of one timestamp tick; 0 where the queue has no timestamps.
    double timestamp_period() const { return timestamp_period_; }
    const VkPhysicalDeviceLimits& limits() const { return limits_; }

    /// Submits in order after everything submitted or enqueued before, with no wait. Execution
    /// order is kept by barriers in the commands, not by this. Returns the point at which they are
    /// complete. If it throws, `commands` do not run, and enqueued commands go with the next
    /// submission. UserError on a host's device without a queue for Firn.
    TimelinePoint submit(std::span<const VkCommandBuffer> commands,
                         std::span<const SemaphoreWait> waits = {},
                         std::span<const SemaphoreSignal> signals = {});
    /// Leaves `commands` for the next submission; submits once `batch_limit` of them wait. Returns
    /// the point at which they are complete.
    TimelinePoint enqueue(VkCommandBuffer commands);
    /// 1 (the default): enqueue submits at once. A window sets more, so that a frame and the work
    /// that it shows travel in one submission.
    void set_batch_limit(size_t commands);
    /// Submits the enqueued commands.
    void flush();
    /// The point of the newest commands, and the newest point reached.
    TimelinePoint last_submitted() const;
    TimelinePoint completed() const;
    bool is_done(TimelinePoint point) const { return point == 0 || point <= completed(); }
    /// Flushes where the point is still enqueued. Throws DeviceError when the device is lost.
    void wait(TimelinePoint point);
    void wait_idle() { wait(last_submitted()); }
    /// Sets a callback that long waits call about every tenth of a second with the time so far; it
    /// may throw, which ends the wait. Null: none. Such a wait also ends by Cancelled, see
    /// CancelScope.
    void watch_waits(std::function<void(double seconds)> watch);
    /// Gives the device up, which counts as lost from then on. Throws the DeviceError that says so.
    [[noreturn]] void give_up(double seconds);
    bool is_given_up() const { return given_up_ != 0; }
    /// Names a possible cause of an endless wait, such as a kernel by hand, for messages; empty:
    /// none.
    void suspect(const std::string& what) { suspect_ = what; }
    const std::string& suspected() const { return suspect_; }
    /// False in a child of fork(), which has none of the driver's threads: there submitting,
    /// waiting and allocating are a UserError, and nothing is destroyed.
    bool is_here() const { return process_.is_here(); }
    /// See OwnProcess.
    std::string why_not_here() const {
        return is_here() ? "" : process_.why_not_here("device '" + info_.name + "' was opened");
    }
    /// Throws UserError in a child of fork().
    void require_here() const;
    /// Locked to present, because only one thread at a time may use the queue.
    std::mutex& queue_mutex() const { return queue_mutex_; }

    /// Throws DeviceError with call, result and object unless `result` is VK_SUCCESS. A device that
    /// a call found lost stays lost: from then on every call that submits or waits throws, and
    /// names that call.
    void check(VkResult result, const char* call, std::string_view object) const;
    bool is_lost() const { return lost_in_ != nullptr; }

    /// Runs `destroy` when everything submitted so far is complete (at a later submit or collect).
    /// It must not own the device.
    template <class Destroy>
    void defer(Destroy destroy) noexcept {
        if (!is_here()) return;
        std::function<void()> later;
        try {
            later = std::move(destroy);
        } catch (const std::bad_alloc&) {
            if (wait_until_idle()) destroy();
            return;
        }
        defer_later(later);
    }
    /// Runs deferred destructions that are due.
    void collect();
    /// Says that commands in command buffers of the host use, from now on, what is destroyed later:
    /// `frame` is the host's number of the frame that they belong to, which never falls.
    void in_frame(uint64_t frame);
    /// Says that all commands of frames up to this one are complete, and collects.
    void frames_done(uint64_t frame);
    /// Submits the enqueued commands and waits until the queue is idle, presenting included (on a
    /// host's device: until Firn's own submissions are complete); for destructors, which cannot
    /// throw: an allocation that fails is tried again. Returns false if it cannot know that all
    /// work has ended.
    bool wait_until_idle() noexcept;

    /// Names an object for validation messages and captures; if that fails it has no name.
    template <class Handle>
    void set_name(Handle object, VkObjectType type, const std::string& name) const noexcept {
        set_object_name((uint64_t)object, type, name);
    }
    void set_object_name(uint64_t object, VkObjectType type,
                         const std::string& name) const noexcept;

    /// Ends with the device, after its instance.
    void keep(std::shared_ptr<void> object) { kept_.insert(std::move(object)); }

    std::vector<std::string> validation_messages() const {
        return instance_->validation_messages();
    }

  private:
    Device() = default;
    TimelinePoint submit_locked(std::span<const VkCommandBuffer> commands,
                                std::span<const SemaphoreWait> waits,
                                std::span<const SemaphoreSignal> signals);
    void refuse_lost() const;
    VkResult wait_on_timeline(TimelinePoint point);
    void defer_later(std::function<void()>& destroy) noexcept;
    void choose_queue(const DeviceOptions& options);
    void create_handle(const DeviceOptions& options);
    void take_handle(const HostDevice& host);
    void take_queue(const HostDevice& host);
    void make_parts(const std::string& cache_directory, VkPipelineCache pipelines);
    void probe(const std::shared_ptr<Device>& self, const std::string& cache_directory);
    VkResult submit_to_queue(const VkSubmitInfo& info, VkFence fence) const;

    OwnProcess process_;
    std::set<std::shared_ptr<void>, std::owner_less<>> kept_;  // first: destroyed last
    std::unique_ptr<Instance> instance_;
    DeviceInfo info_;
    DeviceProfile profile_;
    VkPhysicalDeviceLimits limits_{};
    VkDevice handle_ = VK_NULL_HANDLE;
    bool is_of_host_ = false, may_probe_ = true;
    std::optional<VkAllocationCallbacks> allocator_;
    std::function<void()> lock_queue_, unlock_queue_;  // of a host
    VolkDeviceTable table_{};
    VkQueue queue_ = VK_NULL_HANDLE;
    uint32_t queue_family_ = 0;
    bool can_present_ = false, has_memory_budget_ = false, map_memory_ = true, fill_memory_ = false;
    bool full_subgroups_ = false, has_addresses_ = false;
    double timestamp_period_ = 0;
    std::unique_ptr<PipelineCache> pipeline_cache_;
    mutable SharedPipelines shared_pipelines_;
    std::unique_ptr<Timeline> timeline_;
    mutable std::atomic<const char*> lost_in_{nullptr};  // the call that found the device lost
    std::atomic<double> given_up_{0};                    // after so many seconds
    std::string suspect_;
    std::function<void(double)> watch_;
    mutable std::mutex queue_mutex_;
    TimelinePoint submitted_ = 0;
    std::vector<VkCommandBuffer> enqueued_;
    size_t batch_limit_ = 1;

    struct Deferred {
        TimelinePoint point = 0;
        uint64_t frame = 0;  // of the host
        std::function<void()> destroy;
    };
    std::mutex deferred_mutex_;
    std::deque<Deferred> deferred_;
    uint64_t frame_ = 0, frame_done_ = 0;  // of the host: the present one, the last complete one
    std::unique_ptr<MemoryPool> memory_;
    std::unique_ptr<CommandPool> transfers_;
};

}  // namespace firn
