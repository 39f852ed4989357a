// The points in time that the submissions of a queue reach, in order.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/gpu/vulkan.h"

namespace firn {

class Device;

/// A point on the device's timeline. 0 is always in the past.
using TimelinePoint = uint64_t;

/// Tells when a submission has ended: by one timeline semaphore, or by a fence for each submission
/// where a device has none. May be called by several threads at once.
class Timeline {
  public:
    /// Throws DeviceError.
    Timeline(const Device& device, bool semaphores);
    ~Timeline();
    Timeline(const Timeline&) = delete;
    Timeline& operator=(const Timeline&) = delete;

    /// The semaphore that a submission signals with its point; null: it takes a fence instead.
    VkSemaphore semaphore() const { return semaphore_; }
    /// A fence for the next submission; null where there is a semaphore. A submission that fails
    /// gives it back.
    VkFence take_fence();
    void give_back(VkFence fence) noexcept;
    /// Notes that a submission with this fence reaches `point`, which is above all before.
    void submitted(TimelinePoint point, VkFence fence);

    /// The newest point that was reached.
    VkResult completed(TimelinePoint& point);
    /// Waits for at most so long: VK_TIMEOUT then.
    VkResult wait(TimelinePoint point, uint64_t nanoseconds);

  private:
    struct Pending {
        TimelinePoint point = 0;
        VkFence fence = VK_NULL_HANDLE;
    };
    VkResult collect_locked();

    const Device& device_;
    VkSemaphore semaphore_ = VK_NULL_HANDLE;
    std::mutex mutex_;  // guards the following
    std::deque<Pending> pending_;
    std::vector<VkFence> fences_;  // unsignalled and in no submission
    TimelinePoint reached_ = 0;
};

}  // namespace firn
