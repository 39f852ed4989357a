// Times work on a device, also while other processes hold its cores up.
#include "engine/gpu/stopwatch.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "compiler/base/list_folder.h"
#include "engine/gpu/commands.h"

namespace firn {
namespace {

using Clock = std::chrono::steady_clock;

/// Share of the longest working thread's time from which on another thread counts.
constexpr double kShare = 0.1;
/// A delayed thread leaves its part to the others, but hardly every time.
constexpr int kCountedRounds = 24;

double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Returns the nanoseconds that each thread of this process has run; empty if the system does not
/// report them.
std::map<std::string, double> times_of_threads() {
    std::map<std::string, double> out;
    const std::string tasks = "/proc/self/task";
    for (const std::string& thread : list_folder(tasks).names) {
        const std::string path = tasks + "/" + thread + "/schedstat";
        const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "r"),
                                                         std::fclose);
        double nanoseconds = 0;
        if (file && std::fscanf(file.get(), "%lf", &nanoseconds) == 1) out[thread] = nanoseconds;
    }
    return out;
}

int usable_cores() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

Stopwatch::Stopwatch(Device& device) : device_(device) {
    if (device.timestamp_period() > 0) stamps_.emplace(device, 2, "timestamps of rates");
}

Timing Stopwatch::time(const std::function<void(VkCommandBuffer)>& record,
                       const std::function<void(TimelinePoint)>& use) {
    const double processor = processor_seconds();
    const auto start = Clock::now();
    const TimelinePoint point = submit_once(device_, [&](VkCommandBuffer commands) {
        if (stamps_) stamps_->reset(commands), stamps_->mark(commands);
        record(commands);
        if (stamps_) stamps_->mark(commands);
    });
    use(point);
    device_.wait(point);
    const std::chrono::duration<double> taken = Clock::now() - start;
    return {stamps_ ? stamps_->read().back() * 1e-3 : taken.count(),
            processor_seconds() - processor};
}

int count_cores(const std::function<void()>& work) {
    const int most = usable_cores();
    const auto before = times_of_threads();
    int count = 0;
    for (int round = 0; round < kCountedRounds && count < most; ++round) {
        work();
        std::vector<double> worked;
        for (const auto& [thread, after] : times_of_threads()) {
            const auto at = before.find(thread);
            worked.push_back(after - (at == before.end() ? 0 : at->second));
        }
        const double longest = worked.empty() ? 0 : *std::max_element(worked.begin(), worked.end());
        if (longest <= 0) return most;
        count = static_cast<int>(std::count_if(
            worked.begin(), worked.end(), [&](double each) { return each >= kShare * longest; }));
    }
    return std::min(count, most);
}

}  // namespace firn
