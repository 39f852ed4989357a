// Rates of a device: rounded, kept, refused where they cannot be, measured once.
#include "engine/gpu/rates.h"

#include <unistd.h>

#include <cmath>
#include <ctime>
#include <filesystem>
#include <limits>

#include "compiler/program/disk_cache.h"
#include "tests/deadline.h"
#include "tests/gpu/device_fixture.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

const Rates kReference{14e9, 110e9, 40e-6};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN(),
                 kInfinity = std::numeric_limits<double>::infinity();

void expect_equal(const Rates& a, const Rates& b) {
    EXPECT_DOUBLE_EQ(a.bytes_per_second, b.bytes_per_second);
    EXPECT_DOUBLE_EQ(a.operations_per_second, b.operations_per_second);
    EXPECT_DOUBLE_EQ(a.seconds_per_launch, b.seconds_per_launch);
}

TEST(Rates, ADeviceAboutAsFastAsItsReferenceHasTheRatesOfTheReference) {
    for (const double noise : {0.72, 0.9, 1.0, 1.3, 1.4})
        expect_equal(rounded({14e9 * noise, 110e9 / noise, 40e-6 * noise}, kReference), kReference);
}

TEST(Rates, AreTheReferencesTimesPowersOfTwo) {
    expect_equal(rounded({30e9, 110e9 * 700, 5e-6}, kReference), {28e9, 110e9 * 512, 5e-6});
    expect_equal(rounded({2e9, 30e9, 300e-6}, kReference), {1.75e9, 27.5e9, 320e-6});
}

TEST(Rates, CachedLoadsAreAsMuchFasterAsArithmetic) {
    DeviceProfile profile = gpu_profile();
    set_rates(profile, {700e9, 65e12, 5e-6});
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
    const KeptRates kept{{13.7e9, 117.25e9, 37.5e-6}, 1790000000, 2};
    const auto again = parse_rates(text(kept));
    ASSERT_TRUE(again);
    expect_equal(again->rates, kept.rates);
    EXPECT_EQ(again->measured_at, kept.measured_at);
    EXPECT_EQ(again->measurements, kept.measurements);
}

TEST(Rates, OfATextThatIsNoneAreNone) {
    for (const char* words :
         {"", "rates3", "rates3 1e10 1e11 1e-5 1790000000", "rates3 1e10 1e11 1e-5 1790000000 1 2",
          "rates2 1e10 1e11 1e-5 1790000000 1", "rates3 nan 1e11 1e-5 1790000000 1",
          "rates3 1e10 inf 1e-5 1790000000 1", "rates3 1e10 1e11 0 1790000000 1",
          "rates3 -1e10 1e11 1e-5 1790000000 1", "rates3 1e10 1e99 1e-5 1790000000 1",
          "rates3 1e10 1e11 1e-5 1790000000 0", "rates3 1e10 1e11 fast 1790000000 1"})
        EXPECT_FALSE(parse_rates(words)) << words;
    EXPECT_TRUE(parse_rates("rates3 1e10 1e11 1e-5 1790000000 1"));
}

TEST(Rates, AreMeasuredAgainAfterAnHourTwice) {
    const int64_t now = 1790000000;
    EXPECT_FALSE(is_due({kReference, now, 1}, now));
    EXPECT_FALSE(is_due({kReference, now, 1}, now + 3599));
    EXPECT_TRUE(is_due({kReference, now, 1}, now + 3600));
    EXPECT_TRUE(is_due({kReference, now, 2}, now + 3600));
    EXPECT_FALSE(is_due({kReference, now, 3}, now + 1000000));
    EXPECT_TRUE(is_due({kReference, now, 1}, now - 10)) << "the clock was set back";
}

TEST(Rates, OfALaterMeasurementCountWhereTheyAreClearlyBetter) {
    const KeptRates kept{kReference, 1790000000, 1};
    const KeptRates same = merged(kept, {14e9 * 1.4, 110e9 / 10, 40e-6 / 1.4}, 1790005000);
    expect_equal(same.rates, kReference);
    EXPECT_EQ(same.measured_at, 1790005000);
    EXPECT_EQ(same.measurements, 2);
    expect_equal(merged(kept, {14e9 * 2, 110e9 / 10, 40e-6 / 2}, 1790005000).rates,
                 {28e9, 110e9, 20e-6});
}

PFN_vkCmdDispatch dispatch;
PFN_vkAllocateMemory allocate_memory;
int dispatches;

/// A device that measures its rates, in a folder of its own.
class MeasuredRates : public DeviceTest {
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
    /// Puts other words in the place of what is kept, beside the same key.
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

TEST_F(MeasuredRates, ArePlausibleAndTakeLittleTime) {
    Deadline deadline;
    const Rates rates = measure_rates(device);
    const double taken = deadline.seconds();
    std::printf("%.1f GB/s, %.1f GFLOP/s, %.2f us per launch, measured in %.2f s\n",
                rates.bytes_per_second * 1e-9, rates.operations_per_second * 1e-9,
                rates.seconds_per_launch * 1e6, taken);
    EXPECT_TRUE(are_plausible(rates));
    EXPECT_LT(rates.bytes_per_second, 1e13);
    EXPECT_LT(taken, 5) << "half a second where nothing else runs";
}

TEST_F(MeasuredRates, LeaveNoMemoryBehind) {
    const auto own = Device::create(options());
    const uint64_t before = own->memory().use().held;
    measure_rates(own, 0);
    EXPECT_LE(own->memory().use().held, before);
}

TEST_F(MeasuredRates, AreInTheProfileInStepsOfTwoFromItsClass) {
    EXPECT_FALSE(device->profile().rates_measured);
    const DeviceProfile profile = profile_of(measuring());
    EXPECT_TRUE(profile.rates_measured);
    EXPECT_NE(rates_text(profile).find("measured in steps of two"), std::string::npos);
    const Rates of_class = rates_of(device->profile()), rates = rates_of(profile);
    for (const double ratio : {rates.bytes_per_second / of_class.bytes_per_second,
                               rates.operations_per_second / of_class.operations_per_second,
                               rates.seconds_per_launch / of_class.seconds_per_launch})
        EXPECT_NEAR(std::log2(ratio), std::round(std::log2(ratio)), 1e-9) << ratio;
    // What is tuned and kept for other rates is not asked for.
    DeviceProfile faster = profile;
    faster.bytes_per_second *= 2;
    EXPECT_NE(cache_key(profile), cache_key(faster));
}

TEST_F(MeasuredRates, AreKept) {
    const DeviceProfile first = profile_of(measuring());
    EXPECT_GT(dispatches, 0);
    const DeviceProfile second = profile_of(measuring());
    EXPECT_EQ(dispatches, 0);
    EXPECT_EQ(cache_key(first), cache_key(second));
    EXPECT_TRUE(second.rates_measured);
}

TEST_F(MeasuredRates, AreMeasuredAnewWhereNoDeviceCouldHaveThem) {
    profile_of(measuring());
    for (const char* words : {"rates3 nan 1e11 1e-5 1790000000 1", "rates3 0 1e11 1e-5 1 1", "x"}) {
        keep(words);
        EXPECT_TRUE(profile_of(measuring()).rates_measured);
        EXPECT_GT(dispatches, 0) << words;
    }
    profile_of(measuring());
    EXPECT_EQ(dispatches, 0);
}

TEST_F(MeasuredRates, OfABusyMachineDoNotStay) {
    profile_of(measuring());
    const std::string slow = "rates3 1.1e8 1.1e8 0.09 ";
    keep(slow + std::to_string(std::time(nullptr) - 4000) + " 1");
    EXPECT_GT(profile_of(measuring()).bytes_per_second, 1.5e8);
    EXPECT_GT(dispatches, 0);
    keep(slow + std::to_string(std::time(nullptr) - 4000) + " 3");
    EXPECT_LT(profile_of(measuring()).bytes_per_second, 1.5e8);
    EXPECT_EQ(dispatches, 0);
}

TEST_F(MeasuredRates, AreThoseOfTheClassWhereTheyCannotBeMeasured) {
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

TEST_F(MeasuredRates, AreListedOnceTheyAreKept) {
    EXPECT_EQ(list_devices_with_rates(folder.string()).find("measured"), std::string::npos);
    const std::string rates = rates_text(profile_of(measuring()));
    const std::string list = list_devices_with_rates(folder.string());
    EXPECT_NE(list.find(device->info().name), std::string::npos) << list;
    EXPECT_NE(list.find(rates), std::string::npos) << rates << "\n" << list;
    EXPECT_NE(list_devices_with_rates("").find("by its class"), std::string::npos);
}

}  // namespace
}  // namespace firn
