// Every Vulkan call and every allocation of the engine fails in turn: tensors stay, a message says
// what failed, and the next call works.
#include "tests/faults/faults.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <regex>
#include <sstream>

#include "compiler/language.h"
#include "engine/gpu/buffer.h"
#include "engine/gpu/rates.h"
#include "engine/runtime/vulkan_executor.h"
#include "engine/window/view_window.h"
#include "tests/window/display.h"

namespace firn {
namespace {

// Each point starts afresh: what a run keeps on disk would let the next one make other calls.
[[maybe_unused]] const int kNoCache = setenv("FIRN_NO_CACHE", "1", 1);

/// Every so many points one is tried, `times` as many of a slow scenario; FIRN_FAULT_STRIDE=1 tries
/// all.
int64_t stride(Fault fault, int64_t times = 1) {
    const char* wanted = std::getenv("FIRN_FAULT_STRIDE");
    return wanted ? std::max(1, std::atoi(wanted)) : times * (fault == Fault::Allocation ? 23 : 3);
}

/// Runs on the engine, in which allocations may fail.
class FailingExecutor : public Executor {
  public:
    explicit FailingExecutor(std::shared_ptr<Device> device)
        : engine(std::make_shared<VulkanExecutor>(std::move(device))) {}
    const DeviceProfile& profile() const override { return engine->profile(); }
    std::shared_ptr<Memory> allocate(uint64_t bytes, const std::string& name) override {
        const AllocationsFail here;
        return engine->allocate(bytes, name);
    }
    void write(Memory& memory, uint64_t offset, std::span<const std::byte> data) override {
        const AllocationsFail here;
        engine->write(memory, offset, data);
    }
    void read(const Memory& memory, uint64_t offset, std::span<std::byte> data) override {
        const AllocationsFail here;
        engine->read(memory, offset, data);
    }
    void run(const std::shared_ptr<const Program>& program, const Call& call) override {
        const AllocationsFail here;
        engine->run(program, call);
    }
    void wait() override {
        const AllocationsFail here;
        engine->wait();
    }
    void set_profiling(bool on) override { engine->set_profiling(on); }
    std::vector<KernelTime> take_kernel_times() override {
        const AllocationsFail here;
        return engine->take_kernel_times();
    }

    std::shared_ptr<VulkanExecutor> engine;
};

/// What the validation layer says, until after the end of a device.
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

/// A session on a device of its own, and tensors that must keep their values whatever fails.
struct World {
    World(const DeviceOptions& options)
        : device(Device::create(options)),
          executor(std::make_shared<FailingExecutor>(device)),
          session(executor),
          scope(session) {}

    Tensor keep(std::vector<float> values) {
        Tensor made = tensor(values, {static_cast<int>(values.size())});
        kept.emplace_back(made, std::move(values));
        return made;
    }
    void expect_intact() const {
        for (const auto& [tensor, values] : kept) EXPECT_EQ(tensor.to_vector<float>(), values);
    }

    std::shared_ptr<Device> device;
    std::shared_ptr<FailingExecutor> executor;
    Session session;
    SessionScope scope;
    std::vector<std::pair<Tensor, std::vector<float>>> kept;
};

struct Scenario {
    const char* name;
    /// Makes what it needs and gives what is then run with failures, and again without.
    std::function<std::function<void()>(World&)> begin;
    bool map_memory = true;
    int64_t stride_times = 1;
    friend std::ostream& operator<<(std::ostream& out, const Scenario& s) { return out << s.name; }
};

std::vector<float> ramp(int n, float step = 1) {
    std::vector<float> values;
    for (int i = 0; i < n; ++i) values.push_back(static_cast<float>(i) * step);
    return values;
}
std::vector<float> times(std::vector<float> values, float factor) {
    for (float& value : values) value *= factor;
    return values;
}

const std::vector<float> kValues = ramp(300);

const Scenario kScenarios[] = {
    {"allocate",
     [](World& world) {
         return std::function([&world] {
             const auto small = world.executor->allocate(1000, "small"),
                        large = world.executor->allocate(3 << 20, "large");
             EXPECT_NE(small, nullptr);
         });
     }},
    {"upload",
     [](World&) {
         return std::function(
             [] { EXPECT_EQ(tensor(kValues, {300}).to_vector<float>(), kValues); });
     }},
    {"upload_staged",
     [](World&) {
         return std::function([] {
             const std::vector<float> large = ramp(20'000);
             EXPECT_EQ(tensor(large, {20'000}).to_vector<float>(), large);
         });
     },
     false},
    {"lazy",
     [](World& world) {
         return std::function([x = world.keep(kValues)] {
             Tensor y = x * 2.0f;
             EXPECT_EQ(y.to_vector<float>(), times(kValues, 2));
         });
     }},
    {"lazy_assigned",
     [](World& world) {
         auto x = std::make_shared<Tensor>(world.keep(kValues));
         *x = *x * 2.0f;  // not computed yet
         return std::function([x] { EXPECT_EQ(x->to_vector<float>(), times(kValues, 2)); });
     }},
    {"replayed",
     [](World& world) {
         auto f = compile([](Tensor x) { return x * 3.0f; }, {f32("n")});
         Tensor x = world.keep(kValues);
         for (int k = 0; k < 2; ++k) EXPECT_EQ(f(x).to_vector<float>(), times(kValues, 3));
         return std::function([f, x] { EXPECT_EQ(f(x).to_vector<float>(), times(kValues, 3)); });
     }},
    {"changed_scalars",
     [](World& world) {
         auto f = compile([](Tensor x, Tensor s) { return x * s; }, {f32("n"), f32()});
         Tensor x = world.keep(kValues);
         EXPECT_EQ(f(x, 2.0f).to_vector<float>(), times(kValues, 2));
         return std::function([f, x, s = std::make_shared<float>(2.0f)] {
             *s += 1;
             EXPECT_EQ(f(x, *s).to_vector<float>(), times(kValues, *s));
         });
     }},
    {"enqueued",
     [](World& world) {
         // As in a window: several calls travel in one submission.
         world.device->set_batch_limit(3);
         auto f = compile([](Tensor x, Tensor s) { return x * s; }, {f32("n"), f32()});
         Tensor x = world.keep(kValues);
         auto made = std::make_shared<std::vector<std::pair<Tensor, float>>>();
         return std::function([f, x, made] {
             for (float s = 2; s < 9; ++s) made->emplace_back(f(x, s), s);
             for (const auto& [tensor, s] : *made)
                 EXPECT_EQ(tensor.to_vector<float>(), times(kValues, s));
         });
     }},
    {"donated",
     [](World& world) {
         auto f = compile([](Tensor x) { return x * 2.0f; }, {f32("n")});
         auto x = std::make_shared<Tensor>(world.keep(kValues) + 0.0f);
         x->to_vector<float>();
         return std::function([f, x, factor = std::make_shared<float>(1.0f)] {
             *x = f(std::move(*x));
             *factor *= 2;
             EXPECT_EQ(x->to_vector<float>(), times(kValues, *factor));
         });
     }},
    {"donated_in_parts",
     [](World& world) {
         // The second of three submissions writes over the argument.
         world.executor->engine->set_submission_seconds(0);
         const Tensor share = reshape(world.keep(std::vector<float>(64 * 16, 1.0f / 16)), {64, 16});
         auto f = compile(
             [share](Tensor x) {
                 Tensor means = matmul(transpose(share), x) * (16.0f / 64);
                 Tensor y = matmul(share, means) + 1.0f;
                 return std::pair{y, matmul(y, transpose(y))};
             },
             {f32(64, 16)});
         auto x = std::make_shared<Tensor>(zeros({64, 16}) + share * 16.0f);
         EXPECT_EQ(x->to_vector<float>()[0], 1);
         return std::function([f, x, turns = std::make_shared<float>(1.0f)] {
             auto [more, product] = f(std::move(*x));
             *x = more;
             *turns += 1;
             EXPECT_EQ(x->to_vector<float>(), std::vector<float>(64 * 16, *turns));
             EXPECT_EQ(product.to_vector<float>()[0], 16 * *turns * *turns);
         });
     },
     true, 2},
    {"two_stages",
     [](World& world) {
         return std::function([x = world.keep(ramp(1 << 13, 0.5f))] {
             const float mean = 0.25f * ((1 << 13) - 1);
             Tensor centred = x - sum(x) / static_cast<float>(1 << 13);
             EXPECT_EQ(centred.to_vector<float>()[1], 0.5f - mean);
         });
     }},
    {"while",
     [](World& world) {
         // Neighbours are read, so that it is a loop of kernels, and the data says when it ends.
         auto f = compile(
             [](Tensor x) {
                 Tensor n = 0;
                 while_([&] { return n < 40; },
                        [&] {
                            x = max(x, roll(x, 1));
                            n += 1;
                        });
                 return x;
             },
             {f32("n")});
         Tensor x = world.keep(kValues);
         return std::function([f, x] { EXPECT_EQ(f(x).to_vector<float>()[1], 299.0f); });
     },
     true, 2},
    {"while_donated",
     [](World& world) {
         auto f = compile(
             [](Tensor x) {
                 Tensor n = 0;
                 while_([&] { return n < 40; },
                        [&] {
                            x = roll(x, 1) + 1.0f;
                            n += 1;
                        });
                 return x;
             },
             {f32("n")});
         const std::vector<float> ones(300, 1.0f);
         auto x = std::make_shared<Tensor>(world.keep(ones) + 0.0f);
         EXPECT_EQ(x->to_vector<float>(), ones);
         return std::function([f, x, turns = std::make_shared<float>(0.0f)] {
             *x = f(std::move(*x));
             *turns += 40;
             EXPECT_EQ(x->to_vector<float>(), std::vector<float>(300, 1 + *turns));
         });
     },
     true, 2},
    {"readback_staged",
     [](World& world) {
         const std::vector<float> large = ramp(20'000);
         return std::function(
             [x = world.keep(large), large] { EXPECT_EQ(x.to_vector<float>(), large); });
     },
     false},
    {"explain",
     [](World& world) {
         auto f = compile([](Tensor x) { return x * 3.0f; }, {f32("n")});
         Tensor x = world.keep(kValues);
         return std::function(
             [f, x] { EXPECT_NE(f.explain({x}).find("measured"), std::string::npos); });
     }},
    {"tune",
     [](World& world) {
         auto f = compile([](Tensor x) { return sum(x * 3.0f, {.axis = 1}); }, {f32("n", "m")});
         Tensor x = reshape(world.keep(kValues), {20, 15});
         return std::function([f, x] {
             int tried = 0;
             f.tune({x},
                    {.seconds = 5, .progress = [&](const TuneProgress&) { return ++tried < 4; }});
             EXPECT_EQ(f(x).to_vector<float>()[0], 3 * 105.0f);
         });
     },
     true, 10},
    {"picture",
     [](World& world) {
         Tensor x = world.keep(std::vector<float>(64, 1.0f));
         const BufferView view{memory_of(x).memory, 0, f32, {8, 8}};
         return std::function([&world, view] {
             const AllocationsFail here;
             ViewWindow window(world.executor->engine, {.size = {8, 8}, .headless = true});
             EXPECT_TRUE(window.open());
             window.show(view);
             EXPECT_EQ(window.picture().rgba[0], 255);
         });
     },
     true, 2},
    {"window",
     [](World& world) {
         static const VirtualDisplay display;
         Tensor x = world.keep(std::vector<float>(64, 1.0f));
         auto window = std::make_shared<ViewWindow>(
             world.executor->engine, WindowOptions{.title = "faults", .size = {32, 32}});
         return std::function([&world, x, window] {
             auto f = compile([](Tensor x) { return x * 0.5f; }, {f32("n")});
             for (int frame = 0; frame < 4; ++frame) {
                 EXPECT_TRUE(window->open());
                 window->show({memory_of(f(x)).memory, 0, f32, {8, 8}});
             }
         });
     },
     true, 2},
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
    /// One point: true where there was one.
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

/// What the run says of its failure; empty where it needed none.
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
            // From then on every call says so.
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

INSTANTIATE_TEST_SUITE_P(All, FaultTest, testing::ValuesIn(kScenarios),
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

/// What cannot be measured is what the class of the device has, and says nothing; only a device
/// that is lost says so.
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
            std::optional<Rates> rates;
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
                EXPECT_TRUE(rates && are_plausible(*rates));
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
    const std::regex call("[.>](vk[A-Z][A-Za-z0-9]+)\\(");
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(FIRN_SOURCE_DIR "/engine")) {
        if (file.path().extension() != ".cpp") continue;
        std::stringstream text;
        text << std::ifstream(file.path()).rdbuf();
        const std::string all = text.str();
        for (std::sregex_iterator at(all.begin(), all.end(), call), end; at != end; ++at)
            EXPECT_TRUE(wrapped.contains((*at)[1])) << file.path() << ": " << (*at)[1];
    }
}

}  // namespace
}  // namespace firn
