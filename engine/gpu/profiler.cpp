// GPU time of the parts of a command buffer, by timestamps.
#include "engine/gpu/profiler.h"

#include <chrono>

#include "engine/gpu/commands.h"

namespace firn {

Timestamps::Timestamps(Device& device, uint32_t capacity, const std::string& name)
    : device_(device), capacity_(capacity) {
    VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = capacity;
    check(device.vk().vkCreateQueryPool(device.handle(), &info, device.allocator(), &pool_),
          "vkCreateQueryPool", name);
    device.set_name(pool_, VK_OBJECT_TYPE_QUERY_POOL, name);
}

Timestamps::~Timestamps() {
    device_.defer([device = &device_, pool = pool_] {
        device->vk().vkDestroyQueryPool(device->handle(), pool, device->allocator());
    });
}

void Timestamps::reset(VkCommandBuffer commands) {
    device_.vk().vkCmdResetQueryPool(commands, pool_, 0, capacity_);
    marks_ = 0;
}

void Timestamps::mark(VkCommandBuffer commands) {
    ensure(marks_ < capacity_, "more timestamps were recorded than the pool holds");
    device_.vk().vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_,
                                     marks_++);
    // A driver that draws and computes on the CPU writes the time with the pixels of its next
    // flush, which may come after the kernels behind the mark have run: the barrier is that flush.
    if (device_.profile().device_class == DeviceClass::CpuDriver)
        barrier_compute(device_, commands);
}

std::vector<uint64_t> Timestamps::ticks() const {
    std::vector<uint64_t> ticks(marks_);
    if (marks_ == 0) return ticks;
    device_.check(device_.vk().vkGetQueryPoolResults(device_.handle(), pool_, 0, marks_,
                                                     ticks.size() * sizeof(uint64_t), ticks.data(),
                                                     sizeof(uint64_t), VK_QUERY_RESULT_64_BIT),
                  "vkGetQueryPoolResults", "timestamps");
    return ticks;
}

std::vector<double> Timestamps::read() const {
    std::vector<double> times;
    const std::vector<uint64_t> all = ticks();
    for (uint64_t tick : all)
        times.push_back(static_cast<double>(tick - all[0]) * device_.timestamp_period() * 1e-6);
    return times;
}

std::vector<double> Timestamps::read_clock() const {
    std::vector<double> times;
    for (uint64_t tick : ticks())
        times.push_back(static_cast<double>(tick) * device_.timestamp_period() * 1e-9);
    return times;
}

double device_clock_begin(Device& device) {
    using Clock = std::chrono::steady_clock;
    const auto now = [] {
        return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
    };
    device.wait_idle();
    double begin = 0, shortest = 1e9;
    // The shortest of a few is undisturbed.
    for (int trial = 0; trial < 5; ++trial) {
        Timestamps marks(device, 1, "clock");
        const double before = now();
        device.wait(submit_once(device, [&](VkCommandBuffer commands) {
            marks.reset(commands);
            marks.mark(commands);
        }));
        device.wait_idle();
        const double after = now();
        if (after - before > shortest) continue;
        shortest = after - before;
        begin = (before + after) / 2 - marks.read_clock()[0];
    }
    return begin;
}

}  // namespace firn
