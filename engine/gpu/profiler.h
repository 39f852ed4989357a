// GPU time of the parts of a command buffer, by timestamps.
#pragma once
#include <string>
#include <vector>

#include "engine/gpu/device.h"

namespace firn {

/// A pool of timestamps for one submission at a time. Must end before its device.
class Timestamps {
  public:
    Timestamps(Device& device, uint32_t capacity, const std::string& name);
    ~Timestamps();
    Timestamps(const Timestamps&) = delete;
    Timestamps& operator=(const Timestamps&) = delete;

    uint32_t capacity() const { return capacity_; }
    /// Recorded before the first mark.
    void reset(VkCommandBuffer commands);
    /// The time at which everything recorded before is complete; marks count from 0.
    void mark(VkCommandBuffer commands);
    uint32_t marks() const { return marks_; }
    /// Milliseconds of every mark, counted from the first. The submission must be complete.
    std::vector<double> read() const;
    /// Seconds of every mark by the device's clock.
    std::vector<double> read_clock() const;

  private:
    std::vector<uint64_t> ticks() const;

    Device& device_;
    VkQueryPool pool_ = VK_NULL_HANDLE;
    uint32_t capacity_ = 0, marks_ = 0;
};

/// Returns the host's steady clock at the device's time 0, to within a part of the time of an empty
/// submission. Waits for the device, which must have timestamps.
double device_clock_begin(Device& device);

}  // namespace firn
