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

/// Returns how many cores a driver on the CPU runs kernels on: the threads of this process that
/// took their share of `work`, which is run several times, at most the cores of this process.
/// Returns all of these if the system does not report threads.
int count_cores(const std::function<void()>& work);

}  // namespace firn
