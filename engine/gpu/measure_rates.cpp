// Measures how fast a device moves bytes, computes and starts kernels, by kernels that do little
// else.
#include <algorithm>
#include <bit>
#include <chrono>
#include <functional>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/gpu/commands.h"
#include "engine/gpu/measured_kernel.h"
#include "engine/gpu/pipeline.h"
#include "engine/gpu/rates.h"
#include "engine/gpu/stopwatch.h"

namespace firn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kGroup = 64;                       // invocations of arithmetic_rate.comp
constexpr uint32_t kCopyGroup = 256;                  // of a copy, if the device allows so many
constexpr uint64_t kInvocationBytes = 64;             // bytes that an invocation copies
constexpr uint64_t kSliceBytes = 4 << 20;             // the least that a dispatch copies
constexpr uint64_t kMostBytes = uint64_t{256} << 20;  // bytes of each of the two buffers of a copy
constexpr int kChains = 12, kSteps = 8;               // in an iteration of arithmetic_rate.comp
constexpr int kMostIterations = 1 << 14;              // far below any driver's limit of back edges
constexpr int kMostSlices = 1 << 12, kMostLaunches = 1 << 12;  // in a submission
constexpr double kLongEnough = 1e-3;  // for any clock, and much longer than a submission
/// Seconds of work between launches: a system gives other processes their time slice within so
/// long, if there are any.
constexpr double kLongerThanASlice = 8e-3;
constexpr double kLaunchedWork = 30e-6;  // seconds of work in each measured launch
constexpr double kLongCopy = 1e-3;       // a copy of all bytes that takes less may fit into caches
constexpr size_t kLeastRounds = 5, kMostRounds = 64;

/// Runs rounds until they have taken `seconds`, and at least so many.
std::vector<Timing> rounds_of(const std::function<Timing()>& run, double seconds,
                              size_t least_rounds) {
    const auto start = Clock::now();
    std::vector<Timing> out;
    while (out.size() < least_rounds ||
           (out.size() < kMostRounds &&
            Clock::now() - start <= std::chrono::duration<double>(seconds)))
        out.push_back(run());
    return out;
}

/// Runs that many units of work.
using Run = std::function<Timing(int)>;

/// Returns how many units of work in a submission last long enough, by doubling.
int enough(const Run& run, int first, int most, int cores) {
    run(first);  // some drivers compile at the first dispatch, and give memory at the first use
    int amount = first;
    // A single delayed round does not stop the doubling: it takes two.
    const auto is_short = [&] {
        const auto rounds = rounds_of([&] { return run(amount); }, 0, 2);
        return work_estimate(rounds, cores).value < kLongEnough;
    };
    while (amount < most && is_short()) amount *= 2;
    return amount;
}

/// Returns the seconds of one unit.
Estimate seconds_of_one(const Run& run, int first, int most, double seconds, int cores) {
    const int amount = enough(run, first, most, cores);
    Estimate out =
        work_estimate(rounds_of([&] { return run(amount); }, seconds, kLeastRounds), cores);
    out.value /= amount;
    return out;
}

/// Returns the units per second.
Estimate rate(double units, const Estimate& seconds) {
    return {units / seconds.value, seconds.error};
}

/// Copies between two buffers, slice by slice, there and back: the next slice is always the one
/// that was touched longest ago. A slice is short on any device, so that some are undisturbed even
/// on a busy machine.
class Copies {
  public:
    /// `pipeline`: with workgroups of `group` invocations; `bytes`: of each buffer, whole slices.
    /// Copies all of them there and back first, because a system allocates memory at its first use,
    /// and memory that was never written may all be read from one page of zeros.
    Copies(const std::shared_ptr<Device>& device, const Pipeline& pipeline, uint32_t group,
           Stopwatch& watch, uint64_t bytes)
        : device_(*device),
          pipeline_(pipeline),
          watch_(watch),
          groups_(static_cast<uint32_t>(kSliceBytes / (kInvocationBytes * group))),
          slices_(static_cast<int>(bytes / kSliceBytes)),
          a_(create_buffer(device, bytes, "copied bytes")),
          b_(create_buffer(device, bytes, "bytes copied to")),
          requests_{{&pipeline, {a_->range(), b_->range()}, {&a_->name(), &b_->name()}, {}},
                    {&pipeline, {b_->range(), a_->range()}, {&b_->name(), &a_->name()}, {}}},
          sets_(*device, requests_, pipeline.name()) {
        time(2 * slices_);
    }

    int slices() const { return slices_; }
    Timing time(int slices) {
        return watch_.time(
            [&](VkCommandBuffer commands) {
                device_.vk().vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                               pipeline_.handle());
                while (slices > 0) slices -= copy(commands, slices);
            },
            [&](TimelinePoint point) { a_->used_at(point, true), b_->used_at(point, true); });
    }

  private:
    /// Copies up to the end of the buffers, and starts again there. Returns the number of slices.
    int copy(VkCommandBuffer commands, int most) {
        const VolkDeviceTable& vk = device_.vk();
        const int count = std::min(most, slices_ - next_);
        const auto first = static_cast<int32_t>(groups_) * next_;
        vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_.layout(), 0,
                                   1, &sets_.sets()[back_ ? 1 : 0], 0, nullptr);
        vk.vkCmdPushConstants(commands, pipeline_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                              sizeof first, &first);
        vk.vkCmdDispatch(commands, groups_ * static_cast<uint32_t>(count), 1, 1);
        barrier_compute(device_, commands);
        next_ += count;
        if (next_ == slices_) next_ = 0, back_ = !back_;
        return count;
    }

    Device& device_;
    const Pipeline& pipeline_;
    Stopwatch& watch_;
    uint32_t groups_ = 0;  // of a slice
    int slices_ = 0, next_ = 0;
    bool back_ = false;
    std::shared_ptr<Buffer> a_, b_;
    SetRequest requests_[2];
    DescriptorSets sets_;
};

/// Returns the bytes read and written per second.
Estimate copy_rate(const std::shared_ptr<Device>& device, Stopwatch& watch, double seconds,
                   int cores) {
    const DeviceProfile& profile = device->profile();
    const BindingForm form = profile.view_loads ? BindingForm::View : BindingForm::Storage;
    const uint32_t group = std::bit_floor(std::min(kCopyGroup, profile.max_group_size));
    const Pipeline pipeline(
        *device,
        measured_kernel(profile.view_loads ? "copy_texels.comp" : "copy_storage.comp", group,
                        {{form, f32, 4, false}, {BindingForm::Storage, f32, 4, true}}),
        {&group, 1});
    const uint64_t most = std::min(
        {kMostBytes, profile.max_storage_range,
         profile.view_loads ? 16 * profile.max_view_elements : kMostBytes,
         profile.max_groups[0] * group * kInvocationBytes, device->memory().use().free / 8});
    // The buffers are so large that twice the size of a cache is moved between two uses of a byte.
    uint64_t bytes = (2 * profile.cache_bytes + kSliceBytes - 1) / kSliceBytes * kSliceBytes;
    for (;; bytes *= 2) {
        // Smaller buffers would measure the rate of caches.
        if (bytes > most) throw DeviceError("too little memory to measure the rate of a copy");
        Copies copies(device, pipeline, group, watch, bytes);
        const auto run = [&](int slices) { return copies.time(slices); };
        const auto all = rounds_of([&] { return run(copies.slices()); }, 0, 2);
        const bool fast = work_estimate(all, cores).value < kLongCopy;
        if (fast && 2 * bytes <= most) continue;  // fast devices have large caches
        return rate(2 * double{kSliceBytes}, seconds_of_one(run, 1, kMostSlices, seconds, cores));
    }
}

/// The kernel of arithmetic; with one iteration in few workgroups it is a small one.
class Chains {
  public:
    explicit Chains(const std::shared_ptr<Device>& device)
        : device_(*device),
          groups_(std::clamp<uint32_t>(4 * (device->profile().parallel_invocations / kGroup),
                                       4 * kFewGroups, 1 << 14)),
          sums_(create_buffer(device, 4 * uint64_t{kGroup} * groups_, "ends of chains")),
          pipeline_(*device, measured_kernel("arithmetic_rate.comp", kGroup,
                                             {{BindingForm::Storage, f32, 1, true}})),
          request_{&pipeline_, {sums_->range()}, {&sums_->name()}, {}},
          sets_(*device, {&request_, 1}, pipeline_.name()) {}

    /// Returns the operations of all workgroups.
    double operations_per_iteration() const {
        return 2.0 * kChains * kSteps * kGroup * static_cast<double>(groups_);
    }
    Timing time(Stopwatch& watch, int iterations) { return run(watch, 1, groups_, iterations); }
    /// Launches of a few workgroups, one after the other.
    Timing time_launches(Stopwatch& watch, int launches, int iterations) {
        return run(watch, launches, kFewGroups, iterations);
    }

  private:
    static constexpr uint32_t kFewGroups = 16;  // enough to wake all cores of a CPU driver

    Timing run(Stopwatch& watch, int dispatches, uint32_t groups, int32_t iterations) {
        return watch.time(
            [&](VkCommandBuffer commands) {
                bind_measured(device_, commands, pipeline_, sets_.sets()[0], iterations);
                for (int k = 0; k < dispatches; ++k) {
                    device_.vk().vkCmdDispatch(commands, groups, 1, 1);
                    barrier_compute(device_, commands);
                }
            },
            [&](TimelinePoint point) { sums_->used_at(point, true); });
    }

    Device& device_;
    uint32_t groups_;
    std::shared_ptr<Buffer> sums_;
    Pipeline pipeline_;
    SetRequest request_;
    DescriptorSets sets_;
};

/// Returns the time of a dispatch and the barrier behind it beside the work, if there is some:
/// cores of a CPU driver that are idle for so long fall asleep, and are woken by the next dispatch.
/// lavapipe on two cores takes 20 us with 2 us of work, 27 with 8, 45 with 16 to 64. Rounds that
/// other processes disturb are followed by more. If it cannot be measured, returns the class's
/// value.
Estimate launch_time(Chains& chains, Stopwatch& watch, double seconds, int cores, double of_class) {
    const double iteration =
        seconds_of_one([&](int n) { return chains.time_launches(watch, 1, n); }, 8, kMostIterations,
                       seconds / 2, cores)
            .value;
    const auto iterations_in = [&](double time) {
        return static_cast<int>(std::clamp<double>(time / iteration, 1, kMostIterations));
    };
    const int iterations = iterations_in(kLaunchedWork), longer = iterations_in(kLongerThanASlice);
    const int launches =
        enough([&](int n) { return chains.time_launches(watch, n, 1); }, 16, kMostLaunches, cores);
    std::vector<LaunchRound> rounds;
    Estimate out;
    const auto start = Clock::now();
    for (const double patience : {seconds / 2, 2 * seconds}) {
        while (rounds.size() < kLeastRounds ||
               Clock::now() - start < std::chrono::duration<double>(patience))
            rounds.push_back({chains.time_launches(watch, 1, longer),
                              chains.time_launches(watch, launches, iterations),
                              chains.time_launches(watch, launches, 1)});
        out = launch_estimate(rounds, launches, iterations * iteration, cores);
        if (out.error <= kDoubtfulError) break;
    }
    return out.value > 0 ? out : Estimate{of_class, kNotMeasured};
}

}  // namespace

MeasuredRates measure_rates(const std::shared_ptr<Device>& device, double seconds_each) {
    MeasuredRates out;
    {
        Stopwatch watch(*device);
        Chains chains(device);
        const Run run = [&](int n) { return chains.time(watch, n); };
        int cores = 0;
        if (device->profile().device_class == DeviceClass::CpuDriver) {
            const int amount = std::min(kMostIterations, 4 * enough(run, 8, kMostIterations, 1));
            cores = count_cores([&] { run(amount); });
        }
        out.operations_per_second =
            rate(chains.operations_per_iteration(),
                 seconds_of_one(run, 8, kMostIterations, seconds_each, cores));
        out.seconds_per_launch =
            launch_time(chains, watch, seconds_each, cores, device->profile().seconds_per_launch);
        out.bytes_per_second = copy_rate(device, watch, seconds_each, cores);
    }
    device->memory().trim();
    device->collect();
    return out;
}

}  // namespace firn
