// Choosing and making a device, and what it says of itself.
#include <cstdio>
#include <cstdlib>

#include "engine/gpu/commands.h"
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

std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

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

TEST_F(DeviceTest, TheProfileOfACpuDriverLoadsTexels) {
    if (device->info().type != VK_PHYSICAL_DEVICE_TYPE_CPU) GTEST_SKIP() << "not a CPU driver";
    EXPECT_EQ(device->profile().device_class, DeviceClass::Cpu);
    EXPECT_TRUE(device->profile().texel_loads);
    EXPECT_EQ(device->profile().subgroup_size, 8u);
}

TEST_F(DeviceTest, ACpuDriverOfMesa22CutsLoopsOff) {
    if (device->info().driver.find("Mesa 22") == std::string::npos)
        GTEST_SKIP() << "not that driver";
    EXPECT_EQ(device->profile().max_back_edges, 65535u);
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
