// Choosing and making a device, and its description.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "compiler/base/disk_cache.h"
#include "engine/gpu/commands.h"
#include "engine/gpu/matrix_unit.h"
#include "engine/gpu/pipeline.h"
#include "engine/gpu/pipeline_cache.h"
#include "engine/gpu/profile.h"
#include "tests/gpu/device_fixture.h"

namespace firn {
namespace {

DeviceInfo device_info(int number, const std::string& name, VkPhysicalDeviceType type) {
    DeviceInfo info;
    info.number = number;
    info.name = name;
    info.type = type;
    return info;
}

const std::vector<DeviceInfo> kDevices = {
    device_info(0, "llvmpipe (LLVM 15)", VK_PHYSICAL_DEVICE_TYPE_CPU),
    device_info(1, "Intel UHD 630", VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU),
    device_info(2, "GeForce RTX 4090", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU),
};

TEST(ChooseDevice, PrefersADiscreteGpu) { EXPECT_EQ(choose_device(kDevices, "").number, 2); }

TEST(ChooseDevice, TakesTheCpuWhereThereIsNothingElse) {
    EXPECT_EQ(choose_device({kDevices[0]}, "").number, 0);
}

TEST(ChooseDevice, FindsAPartOfTheNameInAnyCase) {
    EXPECT_EQ(choose_device(kDevices, "LLVMPIPE").number, 0);
}

TEST(ChooseDevice, FindsANumber) { EXPECT_EQ(choose_device(kDevices, "1").number, 1); }

TEST(ChooseDevice, ANumberIsNoPartOfAName) {
    EXPECT_THROW(choose_device(kDevices, "4090"), UserError);
}

TEST(ChooseDevice, PassesOverADeviceThatCannotBeUsed) {
    std::vector<DeviceInfo> devices = kDevices;
    devices[2].missing = "it has no timeline semaphores";
    EXPECT_EQ(choose_device(devices, "").number, 1);
}

TEST(ChooseDevice, SaysWhyANamedDeviceCannotBeUsed) {
    std::vector<DeviceInfo> devices = kDevices;
    devices[2].missing = "it has no timeline semaphores";
    std::string message = message_of([&] { choose_device(devices, "geforce"); });
    EXPECT_NE(message.find("cannot be used: it has no timeline semaphores"), std::string::npos)
        << message;
}

TEST(ChooseDevice, AnUnknownNameListsTheDevices) {
    std::string message = message_of([&] { choose_device(kDevices, "radeon"); });
    EXPECT_NE(message.find("device 'radeon' does not exist"), std::string::npos) << message;
    EXPECT_NE(message.find("Intel UHD 630"), std::string::npos) << message;
}

/// Runs in a child process: the loader reads the variables once.
void list_without_driver() {
    setenv("VK_DRIVER_FILES", "/nonexistent.json", 1);
    setenv("VK_ICD_FILENAMES", "/nonexistent.json", 1);
    std::string message = message_of([] { Device::create(); });
    std::fprintf(stderr, "%s\n", message.c_str());
    std::exit(message.empty() ? 1 : 0);
}

TEST(NoDriver, TheErrorSaysSoAndWhatToInstall) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(list_without_driver(), testing::ExitedWithCode(0),
                "Vulkan: no driver was found.*apt install mesa-vulkan-drivers");
}

TEST_F(DeviceTest, AnUnknownDeviceIsAUserError) {
    DeviceOptions wanted;
    wanted.device = "no such device";
    std::string message = message_of([&] { Device::create(wanted); });
    EXPECT_NE(message.find(device->info().name), std::string::npos) << message;
}

TEST_F(DeviceTest, IsListed) {
    EXPECT_NE(list_devices().find(device->info().name), std::string::npos);
}

TEST_F(DeviceTest, TwoDevicesLiveSideBySide) {
    auto other = Device::create();
    auto first = create_buffer(device, 16, "first"), second = create_buffer(other, 16, "second");
    std::vector<std::byte> data(16, std::byte{7}), read(16);
    write_buffer(*first, 0, data);
    write_buffer(*second, 0, data);
    read_buffer(*second, 0, read);
    EXPECT_EQ(read, data);
}

TEST_F(DeviceTest, ValidationReportsAMissingBarrier) {
    auto own = Device::create(options());
    auto a = create_buffer(own, 64, "a"), b = create_buffer(own, 64, "b");
    submit_once(*own, [&](VkCommandBuffer commands) {
        own->vk().vkCmdFillBuffer(commands, a->range().buffer, a->range().offset, 64, 1);
        VkBufferCopy region{a->range().offset, b->range().offset, 64};
        own->vk().vkCmdCopyBuffer(commands, a->range().buffer, b->range().buffer, 1, &region);
    });
    own->wait_idle();
    ASSERT_EQ(own->validation_messages().size(), 1u);
    EXPECT_NE(own->validation_messages()[0].find("READ_AFTER_WRITE"), std::string::npos);
}

TEST_F(DeviceTest, ACpuDriverIsOfItsClass) {
    if (device->info().type != VK_PHYSICAL_DEVICE_TYPE_CPU) GTEST_SKIP() << "not a CPU driver";
    EXPECT_EQ(device->profile().device_class, DeviceClass::CpuDriver);
}

TEST_F(DeviceTest, ACpuDriverOfMesa22LoadsTexelsAndCutsLoopsOff) {
    if (device->info().driver.find("Mesa 22") == std::string::npos)
        GTEST_SKIP() << "not that driver";
    // Decided by a clock: other work on the machine may change the answer once.
    bool texels = false;
    for (int again = 0; again < 5 && !texels; ++again) texels = probe_texel_rate(device, "");
    EXPECT_TRUE(texels);
    EXPECT_EQ(device->profile().subgroup_size, 8u);
    EXPECT_EQ(device->profile().max_back_edges, 65535u);
}

VkCooperativeMatrixPropertiesNV offer(uint32_t size, VkComponentTypeNV operands,
                                      VkComponentTypeNV sums,
                                      VkScopeNV scope = VK_SCOPE_SUBGROUP_NV) {
    return {VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV,
            nullptr,
            size,
            size,
            16,
            operands,
            operands,
            sums,
            sums,
            scope};
}

TEST(ChooseMatrixUnit, TakesTheLargestForHalvesSummedInF32) {
    constexpr auto half = VK_COMPONENT_TYPE_FLOAT16_NV, full = VK_COMPONENT_TYPE_FLOAT32_NV;
    EXPECT_EQ(choose_matrix_unit(std::vector{offer(8, half, full), offer(16, half, full),
                                             offer(32, half, half), offer(32, full, full),
                                             offer(32, half, full, VK_SCOPE_WORKGROUP_NV)}),
              (MatrixUnit{16, 16, 16}));
    EXPECT_FALSE(choose_matrix_unit(
        std::vector{offer(16, half, half), offer(16, VK_COMPONENT_TYPE_SINT8_NV, full)}));
    EXPECT_FALSE(choose_matrix_unit({}));
}

/// The results of a correct unit on a trial.
struct TrialResults {
    explicit TrialResults(const MatrixTrial& trial) : sums(trial.product) {
        for (float x : trial.product) sums.push_back(x), halves.push_back(f32_to_f16_bits(x));
    }
    std::vector<float> sums;
    std::vector<uint16_t> halves;
};

TEST(MatrixTrial, TellsAProductFromEverythingElse) {
    const MatrixTrial trial = matrix_trial({16, 8, 16});
    const TrialResults right(trial);
    EXPECT_TRUE(is_product(trial, right.sums, right.halves));
    for (const size_t k : {size_t{0}, right.halves.size(), right.sums.size() - 1}) {
        TrialResults wrong = right;
        wrong.sums[k] += 1;
        EXPECT_FALSE(is_product(trial, wrong.sums, right.halves)) << k;
    }
    EXPECT_FALSE(is_product(trial, right.sums, std::vector<uint16_t>(right.halves.size())));
    EXPECT_FALSE(is_product(trial, std::vector<float>(right.sums.size()), right.halves));
}

/// The trial detects a unit that swaps rows and columns, or skips an iteration.
TEST(MatrixTrial, EveryRowColumnAndTurnCounts) {
    const MatrixTrial trial = matrix_trial({16, 16, 16});
    auto at = [&](const std::vector<uint16_t>& m, uint32_t k) { return f16_bits_to_f32(m[k]); };
    std::vector<float> turned(256), half_done(256);
    for (uint32_t r = 0; r < 16; ++r)
        for (uint32_t c = 0; c < 16; ++c) {
            turned[c * 16 + r] = trial.product[r * 16 + c];
            float all = 0;
            for (uint32_t k = 0; k < 32; ++k) {
                const float term = at(trial.left, r * 32 + k) * at(trial.right, k * 16 + c);
                EXPECT_EQ(term,
                          at(trial.left, 512 + k * 16 + r) * at(trial.right, 512 + c * 32 + k));
                all += term;
                if (k < 16) half_done[r * 16 + c] += term;
            }
            EXPECT_EQ(all, trial.product[r * 16 + c]);
        }
    EXPECT_NE(turned, trial.product);
    EXPECT_NE(half_done, trial.product);
}

TEST_F(DeviceTest, AKernelForAMatrixUnitIsRefusedWhereThereIsNone) {
    if (device->profile().matrix_unit) GTEST_SKIP() << "it has one";
    EXPECT_FALSE(probe_matrix_unit(device, ""));
    KernelInfo kernel;
    kernel.name = "product";
    kernel.matrix_unit = {16, 16, 16};
    const std::string message = message_of([&] { Pipeline(*device, kernel); });
    EXPECT_NE(message.find("by a matrix unit of 16 x 16 x 16 and this device has none"),
              std::string::npos)
        << message;
}

TEST_F(DeviceTest, AMatrixUnitMultipliesRight) {
    if (!device->profile().matrix_unit) GTEST_SKIP() << "the device has no matrix unit";
    EXPECT_TRUE(probe_matrix_unit(device, ""));
}

TEST_F(DeviceTest, SurfacesAreEnabledWhereTheyAreAvailable) {
    DeviceOptions wanted = options();
    wanted.surfaces = SurfaceSupport::IfAvailable;
    auto own = Device::create(wanted);
    EXPECT_EQ(own->can_present(), own->vk().vkCreateSwapchainKHR != nullptr);
    EXPECT_TRUE(own->validation_messages().empty());
}

TEST_F(DeviceTest, ADeviceThatCannotPresentIsRefusedWhereAWindowIsRequired) {
    DeviceOptions wanted;
    wanted.surfaces = SurfaceSupport::Required;
    wanted.can_present = [](VkInstance, VkPhysicalDevice, uint32_t) { return false; };
    std::string message = message_of([&] { Device::create(wanted); });
    EXPECT_NE(message.find("cannot present to a window"), std::string::npos) << message;
}

TEST_F(DeviceTest, AMissingInstanceExtensionIsNamed) {
    DeviceOptions wanted;
    wanted.instance_extensions = {"VK_FIRN_no_such_thing"};
    std::string message = message_of([&] { Device::create(wanted); });
    EXPECT_NE(message.find("VK_FIRN_no_such_thing"), std::string::npos) << message;
}

TEST_F(DeviceTest, ADamagedCacheIsReplaced) {
    namespace fs = std::filesystem;
    fs::path directory =
        fs::temp_directory_path() / ("firn_device_test_" + std::to_string(getpid()));
    DeviceOptions cached = options();
    cached.cache_directory = directory.string();
    uint32_t back_edges = Device::create(cached)->profile().max_back_edges;
    int files = 0;
    for (const auto& file : fs::directory_iterator(directory)) {
        std::fstream(file.path(), std::ios::in | std::ios::out).seekp(40).put('x');
        ++files;
    }
    EXPECT_GT(files, 0);
    auto again = Device::create(cached);
    EXPECT_EQ(again->profile().max_back_edges, back_edges);
    EXPECT_TRUE(again->validation_messages().empty());
    again.reset();  // it stores its pipelines
    fs::remove_all(directory);
}

TEST_F(DeviceTest, PipelinesOfAnotherDriverAreReplaced) {
    namespace fs = std::filesystem;
    fs::path directory =
        fs::temp_directory_path() / ("firn_device_test_" + std::to_string(getpid()));
    DeviceOptions cached = options();
    cached.cache_directory = directory.string();
    Device::create(cached);
    for (const auto& file : fs::directory_iterator(directory)) {
        if (file.path().extension() != ".pipelines") continue;
        const std::vector<std::byte> foreign(100, std::byte{7});
        cache_store(cached.cache_directory, "pipelines", file.path().stem(), foreign);
        Device::create(cached);
        EXPECT_NE(cache_load(cached.cache_directory, "pipelines", file.path().stem()), foreign);
    }
    fs::remove_all(directory);
}

PFN_vkCreatePipelineCache create_pipeline_cache;
int pipeline_caches;

TEST_F(DeviceTest, PipelinesOfManyProgramsAreKeptUpToABound) {
    namespace fs = std::filesystem;
    const fs::path directory =
        fs::temp_directory_path() / ("firn_device_test_" + std::to_string(getpid()));
    DeviceOptions wanted = options();
    wanted.cache_directory = directory.string();
    wanted.on_device_functions = [](VolkDeviceTable& table) {
        create_pipeline_cache = table.vkCreatePipelineCache;
        table.vkCreatePipelineCache = [](auto... given) {
            return ++pipeline_caches, create_pipeline_cache(given...);
        };
        table.vkGetPipelineCacheData = [](VkDevice, VkPipelineCache, size_t* bytes, void*) {
            *bytes = PipelineCache::kMostBytes + 1;
            return VK_SUCCESS;
        };
    };
    auto crowded = Device::create(wanted);
    PipelineCache& kept = crowded->pipeline_cache();
    PipelineCache::Handle held = kept.take();
    pipeline_caches = 0;
    for (uint64_t k = 0; k < 3 * PipelineCache::kLookEvery; ++k)
        EXPECT_NE(*kept.take(), VK_NULL_HANDLE);
    EXPECT_EQ(pipeline_caches, 3);
    EXPECT_NE(*held, *kept.take()) << "a thread that makes a pipeline still has the old one";
    held.reset();
    crowded.reset();
    for (const auto& file : fs::directory_iterator(directory))
        EXPECT_NE(file.path().extension(), ".pipelines");
    fs::remove_all(directory);
}

TEST_F(DeviceTest, ACacheThatCannotBeWrittenOnlyLosesSpeed) {
    DeviceOptions cached = options();
    cached.cache_directory = "/proc/firn";
    EXPECT_NO_THROW(Device::create(cached));
}

TEST_F(DeviceTest, EnqueuedCommandsRunWhenTheyAreWaitedFor) {
    auto buffer = create_buffer(device, 64, "filled");
    CommandPool pool(*device, "test");
    CommandBuffer& commands = pool.take();
    begin(*device, commands, 0);
    device->vk().vkCmdFillBuffer(commands.handle, buffer->range().buffer, buffer->range().offset,
                                 64, 7);
    barrier_compute_to(*device, commands.handle, VK_PIPELINE_STAGE_HOST_BIT,
                       VK_ACCESS_HOST_READ_BIT);
    end(*device, commands);
    device->set_batch_limit(8);
    TimelinePoint before = device->completed();
    commands.busy_until = device->enqueue(commands.handle);
    buffer->used_at(commands.busy_until, true);
    EXPECT_EQ(device->completed(), before);
    std::vector<std::byte> first(1);
    read_buffer(*buffer, 0, first);
    device->set_batch_limit(1);
    EXPECT_EQ(first[0], std::byte{7});
}

TEST_F(DeviceTest, DeferredWorkRunsWhenTheDeviceIsDone) {
    bool ran = false;
    device->defer([&] { ran = true; });
    device->wait_idle();
    device->collect();
    EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace firn
