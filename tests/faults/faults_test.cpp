// Every Vulkan call and every allocation of the engine fails once: tensors stay, a message names
// the failure, and the next call works.
#include "tests/faults/faults.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <sstream>

#include "engine/gpu/rates.h"
#include "engine/gpu/stopwatch.h"
#include "tests/faults/scenarios.h"
#include "tests/pattern.h"

namespace firn {
namespace {

// Each point starts afresh: with a run's data on disk the next one would make other calls.
[[maybe_unused]] const int kNoCache = setenv("FIRN_NO_CACHE", "1", 1);

/// Every so many points one is tried, `times` as many of a slow scenario; FIRN_FAULT_STRIDE=1 tries
/// all.
int64_t stride(Fault fault, int64_t times = 1) {
    const char* wanted = std::getenv("FIRN_FAULT_STRIDE");
    return wanted ? std::max(1, std::atoi(wanted)) : times * (fault == Fault::Allocation ? 37 : 5);
}

/// Collects the messages of the validation layer, until after the end of a device.
class Messages {
  public:
    std::function<void(const std::string&)> taker() {
        return [this](const std::string& message) {
            std::lock_guard lock(mutex_);
            all_ += message + "\n";
        };
    }
    std::string take() {
        std::lock_guard lock(mutex_);
        return std::exchange(all_, {});
    }

  private:
    std::mutex mutex_;
    std::string all_;
};

class FaultTest : public testing::TestWithParam<Scenario> {
  protected:
    void SetUp() override {
        try {
            Device::create({});
        } catch (const DeviceError& error) {
            GTEST_SKIP() << "no device: " << error.what();
        }
    }

    DeviceOptions options() {
        DeviceOptions options;
        options.validation = true;
        options.map_memory = GetParam().map_memory;
        if (std::string(GetParam().name) == "window")
            options.surfaces = SurfaceSupport::IfAvailable;
        options.on_message = messages.taker();
        return with_faults(options);
    }
    /// Fails at one point; returns false if there is no such point.
    bool fails_at(Fault fault, int64_t n);
    void sweep(Fault fault, const char* kind) {
        int points = 0;
        int64_t n = 1;
        for (const int64_t step = stride(fault, GetParam().stride_times); fails_at(fault, n);
             n += step) {
            ++points;
            if (HasFailure()) break;
        }
        std::printf("faults: %s, %s: %d points of %lld\n", GetParam().name, kind, points,
                    static_cast<long long>(n - 1));
    }

    Messages messages;
};

/// Returns the message of the run's failure; empty if there was none.
std::string failure_of(const std::function<void()>& run) {
    try {
        run();
    } catch (const DeviceError& error) {
        return error.what();
    } catch (const std::exception& error) {
        ADD_FAILURE() << "no DeviceError: " << error.what();
        return error.what();
    }
    return "";
}

bool FaultTest::fails_at(Fault fault, int64_t n) {
    Injected what;
    {
        World world(options());
        const std::function<void()> run = GetParam().begin(world);
        inject(fault, n);
        const std::string said = failure_of(run);
        what = end_injection();
        SCOPED_TRACE(std::string(GetParam().name) + ", point " + std::to_string(n) + ": " +
                     (fault == Fault::Allocation ? "operator new" : what.call + " " + what.result) +
                     ", said: " + said);
        if (!what.fired) {
            EXPECT_EQ(said, "");
        } else if (fault == Fault::DeviceLost) {
            if (said.empty()) return true;
            EXPECT_NE(said.find(what.call), std::string::npos);
            EXPECT_NE(said.find("VK_ERROR_DEVICE_LOST"), std::string::npos);
            // From then on every call reports it.
            EXPECT_NE(failure_of(run).find("VK_ERROR_DEVICE_LOST"), std::string::npos);
        } else {
            if (!said.empty() && fault == Fault::OutOfMemory) {
                EXPECT_NE(said.find(what.call), std::string::npos);
                EXPECT_NE(said.find(what.result), std::string::npos);
            }
            world.expect_intact();
            EXPECT_EQ(failure_of(run), "");
            world.expect_intact();
        }
    }
    EXPECT_EQ(messages.take(), "") << GetParam().name << ", point " << n << ": " << what.call;
    return what.fired;
}

TEST_P(FaultTest, EveryCallRunsOutOfMemory) {
    sweep(Fault::OutOfMemory, "Vulkan calls out of memory");
}
TEST_P(FaultTest, EveryCallLosesTheDevice) { sweep(Fault::DeviceLost, "lost devices"); }
TEST_P(FaultTest, EveryAllocationFails) { sweep(Fault::Allocation, "host allocations"); }

INSTANTIATE_TEST_SUITE_P(All, FaultTest, testing::ValuesIn(scenarios()),
                         [](const auto& info) { return std::string(info.param.name); });

/// A device that cannot be made says why, leaves nothing behind, and can be made the next time.
TEST(Faults, OfMakingADevice) {
    Messages messages;
    DeviceOptions options;
    options.validation = true;
    options.surfaces = SurfaceSupport::IfAvailable;
    options.on_message = messages.taker();
    options = with_faults(options);
    for (const Fault fault : {Fault::OutOfMemory, Fault::DeviceLost, Fault::Allocation}) {
        int64_t n = 1;
        int points = 0;
        for (;; n += stride(fault, 2), ++points) {
            std::optional<AllocationsFail> here;
            DeviceOptions failing = options;
            failing.on_instance_functions = [&](InstanceTable& table) {
                options.on_instance_functions(table);
                here.emplace();  // before, it is the loader that allocates
            };
            inject(fault, n);
            std::string said;
            try {
                Device::create(failing);
            } catch (const DeviceError& error) {
                said = error.what();
            } catch (const std::bad_alloc& error) {
                said = error.what();
            }
            const Injected what = end_injection();
            here.reset();
            EXPECT_EQ(messages.take(), "") << n << ": " << what.call << ", said: " << said;
            if (!what.fired) break;
            if (!said.empty() && fault != Fault::Allocation) {
                EXPECT_TRUE(said.find(what.call) != std::string::npos &&
                            said.find(what.result) != std::string::npos)
                    << said << "\n"
                    << what.call << ": " << what.result;
            }
            if (HasFailure()) return;
        }
        EXPECT_GT(points, 0);
        std::printf("faults: device, kind %d: %d points of %lld\n", static_cast<int>(fault), points,
                    static_cast<long long>(n - 1));
    }
    EXPECT_NO_THROW(Device::create(options));
}

/// A rate that cannot be measured becomes that of the device's class, without a message; only a
/// lost device reports an error.
TEST(Faults, OfCountingCores) {
    int64_t n = 1;
    for (;; ++n) {
        inject(Fault::Allocation, n);
        int cores = 0;
        {
            const AllocationsFail here;
            try {
                cores = count_cores([] {});
            } catch (const std::bad_alloc&) {
            }
        }
        const Injected what = end_injection();
        EXPECT_EQ(what.fired, cores == 0) << n;
        if (!what.fired) break;
    }
    EXPECT_GT(n, 1) << "it asks for memory";
}

TEST(Faults, OfMeasuringRates) {
    Messages messages;
    DeviceOptions options;
    options.validation = true;
    options.on_message = messages.taker();
    options = with_faults(options);
    std::shared_ptr<Device> device;
    for (const Fault fault : {Fault::OutOfMemory, Fault::DeviceLost, Fault::Allocation}) {
        int64_t n = 1;
        int points = 0;
        for (;; n += n < 100 ? stride(fault, 2) : stride(fault, 20), ++points) {
            if (!device) device = Device::create(options);
            const uint64_t used = device->memory().use().used;
            inject(fault, n);
            std::optional<MeasuredRates> rates;
            std::string said;
            {
                const AllocationsFail here;
                try {
                    rates = probe_rates(device, "");
                } catch (const DeviceError& error) {
                    said = error.what();
                } catch (const std::bad_alloc&) {
                    EXPECT_EQ(fault, Fault::Allocation);
                }
            }
            const Injected what = end_injection();
            EXPECT_EQ(messages.take(), "") << n << ": " << what.call << ", said: " << said;
            if (!what.fired) {
                EXPECT_TRUE(rates && are_plausible(rates_of(*rates)));
                break;
            }
            EXPECT_EQ(said.empty(), fault != Fault::DeviceLost) << said << ", " << what.call;
            EXPECT_EQ(device->is_lost(), fault == Fault::DeviceLost);
            EXPECT_EQ(device->memory().use().used, used);
            if (device->is_lost()) device.reset();
            EXPECT_EQ(messages.take(), "") << n << ": " << what.call;
            if (HasFailure()) return;
        }
        EXPECT_GT(points, 0);
        std::printf("faults: rates, kind %d: %d points of %lld\n", static_cast<int>(fault), points,
                    static_cast<long long>(n - 1));
    }
}

/// A function that the engine calls and no wrapper stands before would never fail here.
TEST(Faults, ReachEveryFunctionOfTheEngine) {
    const std::set<std::string> wrapped = wrapped_functions();
    int calls = 0;
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(FIRN_SOURCE_DIR "/engine")) {
        if (file.path().extension() != ".cpp") continue;
        std::stringstream text;
        text << std::ifstream(file.path()).rdbuf();
        each_match(text.str(), "[.>](vk[A-Z][A-Za-z0-9]+)\\(",
                   [&](size_t, size_t, const std::string& name) {
                       ++calls;
                       EXPECT_TRUE(wrapped.contains(name)) << file.path() << ": " << name;
                   });
    }
    EXPECT_GT(calls, 100);
}

}  // namespace
}  // namespace firn
