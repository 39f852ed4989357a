// Rates of a device: rounded, kept, refused where they cannot be, measured once.
#include "engine/gpu/rates.h"

#include <unistd.h>

#include <cmath>
#include <ctime>
#include <filesystem>
#include <limits>

#include "compiler/base/disk_cache.h"
#include "tests/deadline.h"
#include "tests/gpu/device_fixture.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

const Rates kReference{14e9, 110e9, 40e-6};  // those of cpu_profile()
const MeasuredRates kMeasured{{14e9, 1.1}, {110e9, 1.02}, {40e-6, 1.2}};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInfinity = std::numeric_limits<double>::infinity();

void expect_equal(const Rates& a, const Rates& b) {
    EXPECT_DOUBLE_EQ(a.bytes_per_second, b.bytes_per_second);
    EXPECT_DOUBLE_EQ(a.operations_per_second, b.operations_per_second);
    EXPECT_DOUBLE_EQ(a.seconds_per_launch, b.seconds_per_launch);
}

/// Rates without an error.
MeasuredRates sure(double bytes_per_second, double operations_per_second,
                   double seconds_per_launch) {
    return {{bytes_per_second, 1}, {operations_per_second, 1}, {seconds_per_launch, 1}};
}

TEST(Rates, ADeviceAboutAsFastAsItsReferenceHasTheRatesOfTheReference) {
    for (const double noise : {0.72, 0.9, 1.0, 1.3, 1.4})
        expect_equal(rounded(sure(14e9 * noise, 110e9 / noise, 40e-6 * noise), cpu_profile()),
                     kReference);
}

TEST(Rates, AreTheReferencesTimesPowersOfTwo) {
    expect_equal(rounded(sure(30e9, 110e9 * 7, 5e-6), cpu_profile()), {28e9, 110e9 * 8, 5e-6});
    expect_equal(rounded(sure(2e9, 30e9, 300e-6), cpu_profile()), {1.75e9, 27.5e9, 320e-6});
    expect_equal(rounded(sure(4e12, 90e12, 2.4e-6), gpu_profile()), {350e9 * 16, 64e12, 2.5e-6});
}

TEST(Rates, StayWithinWhatDevicesOfTheClassHave) {
    expect_equal(rounded(sure(1e8, 1e8, 1e-8), cpu_profile()), {14e9 / 16, 110e9 / 16, 40e-6 / 16});
    expect_equal(rounded(sure(1e14, 1e16, 0.1), cpu_profile()), {14e9 * 8, 110e9 * 8, 40e-6 * 8});
    expect_equal(rounded(sure(1e14, 1e16, 0.1), gpu_profile()), {350e9 * 32, 8e12 * 32, 5e-6 * 32});
}

TEST(Rates, WithinTheirErrorOfTheClassAreThoseOfTheClass) {
    expect_equal(rounded({{8e9, 2}, {190e9, 2}, {150e-6, 4}}, cpu_profile()), kReference);
    expect_equal(rounded({{6e9, 2}, {230e9, 2}, {170e-6, 4}}, cpu_profile()), {7e9, 220e9, 160e-6});
}

TEST(Rates, AreInDoubtBeyondHalfAStepAndOutsideTheirClass) {
    EXPECT_FALSE(are_doubtful(kMeasured, cpu_profile()));
    const auto doubtful = [](const auto& change) {
        MeasuredRates rates = kMeasured;
        change(rates);
        return are_doubtful(rates, cpu_profile());
    };
    EXPECT_TRUE(doubtful([](MeasuredRates& x) { x.bytes_per_second.error = kBusyError; }));
    EXPECT_TRUE(doubtful([](MeasuredRates& x) { x.operations_per_second.error = 1.5; }));
    EXPECT_TRUE(doubtful([](MeasuredRates& x) { x.seconds_per_launch.error = kNotMeasured; }));
    EXPECT_TRUE(doubtful([](MeasuredRates& x) { x.seconds_per_launch.error = kNan; }));
    EXPECT_TRUE(doubtful([](MeasuredRates& x) { x.bytes_per_second.value = 14e9 * 20; }));
    EXPECT_TRUE(doubtful([](MeasuredRates& x) { x.operations_per_second.value = 2e9; }));
    EXPECT_FALSE(doubtful([](MeasuredRates& x) { x.seconds_per_launch.value = 6e-6; }));
}

TEST(Rates, CachedLoadsAreAsMuchFasterAsArithmetic) {
    DeviceProfile profile = gpu_profile();
    set_rates(profile, sure(700e9, 65e12, 5e-6));
    EXPECT_TRUE(profile.rates_measured);
    expect_equal(rates_of(profile), {700e9, 64e12, 5e-6});
    EXPECT_DOUBLE_EQ(profile.seconds_per_load, gpu_profile().seconds_per_load / 8);
}

TEST(Rates, ThatNoDeviceHasAreImplausible) {
    EXPECT_TRUE(are_plausible(kReference));
    EXPECT_TRUE(are_plausible(rates_of(gpu_profile())));
    for (const double x : {0.0, -1.0, 1e-12, 1e30, kNan, kInfinity, -kInfinity}) {
        EXPECT_FALSE(are_plausible({x, 110e9, 40e-6})) << x;
        EXPECT_FALSE(are_plausible({14e9, x, 40e-6})) << x;
        EXPECT_FALSE(are_plausible({14e9, 110e9, x})) << x;
    }
}

TEST(Rates, HaveATextThatReadsBack) {
    const KeptRates kept{{{13.7e9, 1.25}, {117.25e9, 1}, {37.5e-6, kNotMeasured}}, 1790000000, 2};
    const auto again = parse_rates(text(kept));
    ASSERT_TRUE(again);
    expect_equal(rates_of(again->rates), rates_of(kept.rates));
    EXPECT_EQ(again->rates.bytes_per_second.error, 1.25);
    EXPECT_EQ(again->rates.operations_per_second.error, 1);
    EXPECT_EQ(again->rates.seconds_per_launch.error, kNotMeasured);
    EXPECT_EQ(again->measured_at, kept.measured_at);
    EXPECT_EQ(again->measurements, kept.measurements);
}

TEST(Rates, OfATextThatIsNoneAreNone) {
    const std::string good = "rates4 1e10 1 1e11 1 1e-5 1 1790000000 1";
    EXPECT_TRUE(parse_rates(good));
    for (const char* words :
         {"", "rates4", "rates4 1e10 1 1e11 1 1e-5 1 1790000000",
          "rates4 1e10 1 1e11 1 1e-5 1 1790000000 1 2", "rates3 1e10 1e11 1e-5 1790000000 1",
          "rates4 nan 1 1e11 1 1e-5 1 1790000000 1", "rates4 1e10 1 inf 1 1e-5 1 1790000000 1",
          "rates4 1e10 1 1e11 1 0 1 1790000000 1", "rates4 -1e10 1 1e11 1 1e-5 1 1790000000 1",
          "rates4 1e10 1 1e99 1 1e-5 1 1790000000 1", "rates4 1e10 1 1e11 1 1e-5 1 1790000000 0",
          "rates4 1e10 0.5 1e11 1 1e-5 1 1790000000 1", "rates4 1e10 1 1e11 1 fast 1 1790000000 1"})
        EXPECT_FALSE(parse_rates(words)) << words;
}

TEST(Rates, AreMeasuredAgainAfterAnHourTwice) {
    const int64_t now = 1790000000;
    const auto due = [](const KeptRates& kept, int64_t at) {
        return is_due(kept, cpu_profile(), at);
    };
    EXPECT_FALSE(due({kMeasured, now, 1}, now));
    EXPECT_FALSE(due({kMeasured, now, 1}, now + 3599));
    EXPECT_TRUE(due({kMeasured, now, 1}, now + 3600));
    EXPECT_TRUE(due({kMeasured, now, 2}, now + 3600));
    EXPECT_FALSE(due({kMeasured, now, 3}, now + 1000000));
    EXPECT_TRUE(due({kMeasured, now, 1}, now - 10)) << "the clock was set back";
}

TEST(Rates, ThatAreDoubtfulAreMeasuredAgainAtTheNextStart) {
    const int64_t now = 1790000000;
    MeasuredRates doubtful = kMeasured;
    doubtful.seconds_per_launch.error = kNotMeasured;
    EXPECT_TRUE(is_due({doubtful, now, 1}, cpu_profile(), now + 1));
    EXPECT_TRUE(is_due({doubtful, now, 2}, cpu_profile(), now + 1));
    EXPECT_FALSE(is_due({doubtful, now, 3}, cpu_profile(), now + 1)) << "the machine is never free";
    EXPECT_TRUE(is_due({doubtful, now, 7}, cpu_profile(), now + 3600));
}

TEST(Rates, OfALaterMeasurementCountWhereTheyAreClearlyBetter) {
    const KeptRates kept{kMeasured, 1790000000, 1};
    const KeptRates same = merged(kept, {{14e9 * 1.4}, {110e9 / 10}, {40e-6 / 1.4}}, 1790005000);
    expect_equal(rates_of(same.rates), kReference);
    EXPECT_EQ(same.measured_at, 1790005000);
    EXPECT_EQ(same.measurements, 2);
    expect_equal(rates_of(merged(kept, {{14e9 * 2}, {110e9 / 10}, {40e-6 / 2}}, 1790005000).rates),
                 {28e9, 110e9, 20e-6});
}

TEST(Rates, OfALaterMeasurementCountWhereTheyAreInLessDoubt) {
    const MeasuredRates busy{{28e9, kBusyError}, {90e9, kBusyError}, {20e-6, kNotMeasured}},
        quiet{{13e9, 1.1}, {120e9, 1.1}, {50e-6, 1.1}},
        held_up{{7e9, kBusyError}, {60e9, kBusyError}, {80e-6, kBusyError}};
    const auto both = [](const MeasuredRates& earlier, const MeasuredRates& later) {
        return merged({earlier, 1790000000, 1}, later, 1790005000).rates;
    };
    expect_equal(rates_of(both(busy, quiet)), rates_of(quiet));
    expect_equal(rates_of(both(quiet, busy)), rates_of(quiet));
    const MeasuredRates still = both(busy, held_up);
    expect_equal(rates_of(still), {28e9, 90e9, 80e-6});
    EXPECT_EQ(still.seconds_per_launch.error, kBusyError);
}

PFN_vkCmdDispatch dispatch;
PFN_vkAllocateMemory allocate_memory;
int dispatches;

/// A device that measures its rates, in a folder of its own.
class RatesOfADevice : public DeviceTest {
  protected:
    void SetUp() override {
        DeviceTest::SetUp();
        fs::remove_all(folder);
    }
    void TearDown() override {
        fs::remove_all(folder);
        DeviceTest::TearDown();
    }

    DeviceOptions measuring() {
        DeviceOptions out = options();
        out.measure_rates = true;
        out.cache_directory = folder.string();
        out.on_device_functions = [](VolkDeviceTable& table) {
            dispatch = table.vkCmdDispatch;
            dispatches = 0;
            table.vkCmdDispatch = [](auto... given) { ++dispatches, dispatch(given...); };
        };
        return out;
    }
    DeviceProfile profile_of(const DeviceOptions& options) {
        const auto own = Device::create(options);
        EXPECT_TRUE(own->validation_messages().empty());
        EXPECT_EQ(own->memory().use().used, 0u);
        return own->profile();
    }
    fs::path kept_file() {
        for (const auto& file : fs::directory_iterator(folder))
            if (file.path().extension() == ".rates") return file.path();
        return {};
    }
    /// Replaces the kept words under the same key.
    void keep(const std::string& words) {
        const std::string name = kept_file().stem();
        const auto bytes = cache_load(folder.string(), "rates", name);
        ASSERT_TRUE(bytes);
        const std::string key(reinterpret_cast<const char*>(bytes->data()));
        ASSERT_EQ(cache_hash(key), name);
        cache_put_text(folder.string(), "rates", key, words);
    }

    fs::path folder = fs::temp_directory_path() / ("firn_rates_test_" + std::to_string(getpid()));
};

TEST_F(RatesOfADevice, ArePlausibleAndTakeLittleTime) {
    Deadline deadline;
    const MeasuredRates found = measure_rates(device);
    const Rates rates = rates_of(found);
    const double taken = deadline.seconds();
    std::printf(
        "%.1f GB/s (%.2f), %.1f GFLOP/s (%.2f), %.2f us per launch (%.2f), measured in %.2f s\n",
        rates.bytes_per_second * 1e-9, found.bytes_per_second.error,
        rates.operations_per_second * 1e-9, found.operations_per_second.error,
        rates.seconds_per_launch * 1e6, found.seconds_per_launch.error, taken);
    EXPECT_TRUE(are_plausible(rates));
    EXPECT_LT(rates.bytes_per_second, 1e13);
    EXPECT_LT(taken, 5) << "half a second where nothing else runs";
}

TEST_F(RatesOfADevice, LeaveNoMemoryBehind) {
    const auto own = Device::create(options());
    const uint64_t before = own->memory().use().held;
    measure_rates(own, 0);
    EXPECT_LE(own->memory().use().held, before);
}

TEST_F(RatesOfADevice, AreInTheProfileInStepsOfTwoFromItsClass) {
    EXPECT_FALSE(device->profile().rates_measured);
    const DeviceProfile profile = profile_of(measuring());
    EXPECT_TRUE(profile.rates_measured);
    EXPECT_NE(rates_text(profile).find("measured in steps of two"), std::string::npos);
    const Rates of_class = rates_of(device->profile()), rates = rates_of(profile);
    for (const double ratio : {rates.bytes_per_second / of_class.bytes_per_second,
                               rates.operations_per_second / of_class.operations_per_second,
                               rates.seconds_per_launch / of_class.seconds_per_launch})
        EXPECT_NEAR(std::log2(ratio), std::round(std::log2(ratio)), 1e-9) << ratio;
    // Tuning results that were kept for other rates are not used.
    DeviceProfile faster = profile;
    faster.bytes_per_second *= 2;
    EXPECT_NE(cache_key(profile), cache_key(faster));
}

/// Returns the words of rates on disk: such bytes, operations and seconds, with the same error.
std::string words_of(const Rates& rates, double error, int64_t measured_at, int measurements) {
    return text({{{rates.bytes_per_second, error},
                  {rates.operations_per_second, error},
                  {rates.seconds_per_launch, error}},
                 measured_at,
                 measurements});
}

TEST_F(RatesOfADevice, AreKeptWhereTheyAreInNoDoubt) {
    profile_of(measuring());
    EXPECT_GT(dispatches, 0);
    Rates fast = rates_of(device->profile());
    fast.operations_per_second *= 4;
    keep(words_of(fast, 1.1, std::time(nullptr), 1));
    const DeviceProfile first = profile_of(measuring());
    EXPECT_EQ(dispatches, 0);
    EXPECT_EQ(first.operations_per_second, fast.operations_per_second);
    EXPECT_TRUE(first.rates_measured);
    EXPECT_EQ(cache_key(first), cache_key(profile_of(measuring())));
}

TEST_F(RatesOfADevice, AreMeasuredAnewWhereNoDeviceCouldHaveThem) {
    profile_of(measuring());
    for (const char* words :
         {"rates4 nan 1 1e11 1 1e-5 1 1790000000 1", "rates3 1e10 1e11 1e-5 1 1", "x"}) {
        keep(words);
        EXPECT_TRUE(profile_of(measuring()).rates_measured);
        EXPECT_GT(dispatches, 0) << words;
    }
}

TEST_F(RatesOfADevice, InDoubtAreMeasuredAgainAtTheNextStart) {
    profile_of(measuring());
    Rates slow = rates_of(device->profile());
    slow.operations_per_second /= 16;
    slow.seconds_per_launch *= 8;
    keep(words_of(slow, kBusyError, std::time(nullptr), 1));
    EXPECT_GT(profile_of(measuring()).operations_per_second, slow.operations_per_second);
    EXPECT_GT(dispatches, 0);
    keep(words_of(slow, kBusyError, std::time(nullptr), 3));
    EXPECT_EQ(profile_of(measuring()).operations_per_second, slow.operations_per_second);
    EXPECT_EQ(dispatches, 0);
}

TEST_F(RatesOfADevice, AreThoseOfTheClassWhereTheyCannotBeMeasured) {
    DeviceOptions short_of_memory = measuring();
    short_of_memory.on_device_functions = [](VolkDeviceTable& table) {
        allocate_memory = table.vkAllocateMemory;
        table.vkAllocateMemory = [](VkDevice device, const VkMemoryAllocateInfo* info,
                                    const VkAllocationCallbacks* callbacks,
                                    VkDeviceMemory* memory) {
            return info->allocationSize > (32 << 20)
                       ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                       : allocate_memory(device, info, callbacks, memory);
        };
    };
    const DeviceProfile profile = profile_of(short_of_memory);
    EXPECT_FALSE(profile.rates_measured);
    EXPECT_EQ(rates_text(profile), rates_text(device->profile()));
    EXPECT_EQ(kept_file(), fs::path());
    EXPECT_TRUE(profile_of(measuring()).rates_measured);
}

TEST_F(RatesOfADevice, AreListedOnceTheyAreKept) {
    EXPECT_EQ(list_devices_with_rates(folder.string()).find("measured"), std::string::npos);
    const std::string rates = rates_text(profile_of(measuring()));
    const std::string list = list_devices_with_rates(folder.string());
    EXPECT_NE(list.find(device->info().name), std::string::npos) << list;
    EXPECT_NE(list.find(rates), std::string::npos) << rates << "\n" << list;
    EXPECT_NE(list_devices_with_rates("").find("by its class"), std::string::npos);
}

}  // namespace
}  // namespace firn
