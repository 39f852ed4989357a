// Times work on a device, also while other processes hold its cores up.
#pragma once
#include <functional>
#include <optional>

#include "engine/gpu/profiler.h"
#include "engine/gpu/rate_estimates.h"

namespace firn {

/// Must end before its device.
class Stopwatch {
  public:
    explicit Stopwatch(Device& device);

    /// Waits for the commands that `record` records; `use` gets the point until which its buffers
    /// are busy.
    Timing time(const std::function<void(VkCommandBuffer)>& record,
                const std::function<void(TimelinePoint)>& use);

  private:
    Device& device_;
    std::optional<Timestamps> stamps_;
};

/// Cores that a driver on the CPU runs kernels on: threads of this process that took their share of
/// `work`, which is run some times, no more than this process may use. All of these where the
/// system does not say.
int count_cores(const std::function<void()>& work);

}  // namespace firn
