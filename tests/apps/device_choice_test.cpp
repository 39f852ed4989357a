// The device that a demo runs on: by its own choice, by the command line, and by the environment.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/tree/shell.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNoDriver = "VK_DRIVER_FILES=/dev/null VK_ICD_FILENAMES=/dev/null ";
constexpr const char* kSaysSo = "there is no GPU, so programs run as native code for ";

class DeviceChoices : public testing::Test {
  protected:
    void SetUp() override {
        const std::string list = demo("wave", "--list-devices").output;
        has_driver_ = list.starts_with("0  ");
        has_gpu_ = list.find(" GPU, ") != std::string::npos;
        has_llvm_ = list.find("\ncpu  ") != std::string::npos &&
                    list.find("libllvm19") == std::string::npos;
        folder_ = testing::TempDir() + "/firn_device_choices/";
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }
    /// Runs a demo without FIRN_EXECUTOR, so that it takes the default executor.
    static Outcome demo(const std::string& name, const std::string& arguments,
                        const std::string& environment = "") {
        return run("env -u FIRN_EXECUTOR -u FIRN_DEVICE -u DISPLAY -u WAYLAND_DISPLAY " +
                   environment + " '" FIRN_BIN_DIR "/" + name + "' " + arguments);
    }
    /// Three small frames of the wave, the last of them as wave.png.
    Outcome wave(const std::string& arguments = "", const std::string& environment = "") const {
        return demo("wave",
                    "--headless --frames 3 --size 40x30 --out '" + picture() + "' " + arguments,
                    environment);
    }
    std::string picture() const { return folder_ + "wave.png"; }
    /// Returns the variable by which a process finds libraries that are none, where LLVM should be.
    std::string no_llvm() const {
        for (const char* name : {"libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so"})
            std::ofstream(folder_ + name) << "This is no library.\n";
        return "LD_LIBRARY_PATH='" + folder_ + "' ";
    }

    bool has_driver_ = false, has_gpu_ = false, has_llvm_ = false;
    std::string folder_;
};

TEST_F(DeviceChoices, WithoutADriverNativeCodeComputesAndTheHostDraws) {
    if (!has_llvm_) GTEST_SKIP() << "no LLVM";
    const Outcome made = wave("", kNoDriver);
    EXPECT_EQ(made.status, 0) << made.output;
    EXPECT_NE(made.output.find(kSaysSo), std::string::npos) << made.output;
    EXPECT_TRUE(fs::exists(picture()));
}
TEST_F(DeviceChoices, WithADriverForTheCpuNativeCodeComputes) {
    if (!has_llvm_ || !has_driver_ || has_gpu_) GTEST_SKIP() << "needs LLVM, a driver and no GPU";
    const Outcome made = wave();
    EXPECT_EQ(made.status, 0) << made.output;
    EXPECT_NE(made.output.find(kSaysSo), std::string::npos) << made.output;
    EXPECT_TRUE(fs::exists(picture()));
    EXPECT_EQ(wave("--quiet").output, "");
}
TEST_F(DeviceChoices, TheEnvironmentOverrulesTheDefault) {
    if (!has_driver_) GTEST_SKIP() << "no Vulkan driver";
    for (const char* choice : {"FIRN_EXECUTOR=device", "FIRN_DEVICE=0", "FIRN_LIMITS=least"}) {
        const Outcome made = wave("--dump '" + folder_ + "dump'", choice);
        EXPECT_EQ(made.status, 0) << made.output;
        EXPECT_EQ(made.output.find(kSaysSo), std::string::npos) << made.output;
        EXPECT_EQ(run("ls '" + folder_ + "dump' | grep -q '\\.comp$'").status, 0) << choice;
        fs::remove_all(folder_ + "dump");
    }
}
TEST_F(DeviceChoices, WithoutLlvmADriverForTheCpuComputes) {
    if (!has_driver_) GTEST_SKIP() << "no Vulkan driver";
    const Outcome made = wave("", no_llvm());
    EXPECT_EQ(made.status, 0) << made.output;
    EXPECT_EQ(made.output.find(kSaysSo), std::string::npos) << made.output;
}
TEST_F(DeviceChoices, WithoutADriverAndLlvmBothPackagesAreNamed) {
    const Outcome made = wave("", kNoDriver + no_llvm());
    EXPECT_EQ(made.status, 1) << made.output;
    EXPECT_NE(made.output.find("mesa-vulkan-drivers"), std::string::npos) << made.output;
    EXPECT_NE(made.output.find("libllvm19"), std::string::npos) << made.output;
}
TEST_F(DeviceChoices, TheProcessorIsChosenByItsName) {
    if (!has_llvm_) GTEST_SKIP() << "no LLVM";
    for (const auto& [arguments, environment] :
         {std::pair{"--device cpu ", ""}, {"", "FIRN_DEVICE=cpu"}, {"", "FIRN_EXECUTOR=native"}}) {
        const Outcome made = wave(arguments + ("--dump '" + folder_) + "dump'", environment);
        EXPECT_EQ(made.status, 0) << made.output;
        EXPECT_EQ(made.output.find(kSaysSo), std::string::npos) << "it was chosen";
        EXPECT_EQ(run("ls '" + folder_ + "dump' | grep -q '\\.ll$'").status, 0) << arguments;
        fs::remove_all(folder_ + "dump");
    }
}
TEST_F(DeviceChoices, TheProcessorWithoutLlvmIsAnErrorThatNamesThePackage) {
    const Outcome made = wave("--device cpu", no_llvm());
    EXPECT_EQ(made.status, 2) << made.output;
    EXPECT_NE(made.output.find("libllvm19"), std::string::npos) << made.output;
}
TEST_F(DeviceChoices, WhatOnlyVulkanHasIsRefusedOnTheProcessor) {
    if (!has_llvm_) GTEST_SKIP() << "no LLVM";
    const Outcome validated = wave("--device cpu --validate");
    EXPECT_EQ(validated.status, 2) << validated.output;
    EXPECT_NE(validated.output.find("has no validation layers"), std::string::npos);
    const Outcome both = wave("", "FIRN_EXECUTOR=device FIRN_DEVICE=cpu");
    EXPECT_EQ(both.status, 2) << both.output;
    EXPECT_NE(both.output.find("leave one of the two out"), std::string::npos) << both.output;
}
TEST_F(DeviceChoices, WithoutADriverShapesAreAnErrorThatSaysSo) {
    if (!has_llvm_) GTEST_SKIP() << "no LLVM";
    const Outcome made = demo(
        "particles", "--headless --frames 1 --size 40x30 --out '" + picture() + "'", kNoDriver);
    EXPECT_EQ(made.status, 1) << made.output;
    EXPECT_NE(made.output.find("pictures without one have no shapes"), std::string::npos)
        << made.output;
}
TEST_F(DeviceChoices, TheListEndsWithTheProcessor) {
    const Outcome list = demo("wave", "--list-devices");
    EXPECT_EQ(list.status, 0);
    const size_t row = list.output.find("\ncpu  ");
    ASSERT_NE(row, std::string::npos) << list.output;
    EXPECT_NE(list.output.find(" thread", row), std::string::npos) << list.output;
    EXPECT_EQ(list.output.find("\n0  ", row), std::string::npos) << list.output;
    const Outcome alone = demo("wave", "--list-devices", kNoDriver);
    EXPECT_EQ(alone.status, 0);
    EXPECT_NE(alone.output.find("no driver was found"), std::string::npos) << alone.output;
    EXPECT_NE(alone.output.find("\ncpu  "), std::string::npos) << alone.output;
    const Outcome without = demo("wave", "--list-devices", no_llvm());
    EXPECT_EQ(without.status, 0);
    const size_t bare = without.output.find("\ncpu  ");
    ASSERT_NE(bare, std::string::npos) << without.output;
    EXPECT_NE(without.output.find("cannot be used", bare), std::string::npos) << without.output;
    EXPECT_NE(without.output.find("libllvm19", bare), std::string::npos) << without.output;
}
TEST_F(DeviceChoices, ANameThatNoDeviceHasListsTheProcessorToo) {
    if (!has_driver_) GTEST_SKIP() << "no Vulkan driver";
    const Outcome made = wave("--device abacus");
    EXPECT_EQ(made.status, 2);
    EXPECT_NE(made.output.find("device 'abacus' does not exist"), std::string::npos) << made.output;
    EXPECT_NE(made.output.find("\ncpu  "), std::string::npos) << made.output;
}
TEST_F(DeviceChoices, TheInspectorIsOpenedOnAVulkanDevice) {
    if (!has_driver_) GTEST_SKIP() << "no Vulkan driver";
    const Outcome made = wave("--inspect");
    EXPECT_EQ(made.status, 0) << made.output;
    EXPECT_EQ(made.output.find(kSaysSo), std::string::npos) << made.output;
}

TEST_F(DeviceChoices, SeveralDevicesShareTheWorkOfAPicture) {
    if (!has_llvm_ || !has_driver_) GTEST_SKIP() << "needs LLVM and a driver";
    const auto made = [&](const std::string& name, const std::string& arguments,
                          const std::string& environment = "") {
        const Outcome run = demo("buddhabrot",
                                 "--headless --size 40x40 --set limit=100 --out '" + folder_ +
                                     name + ".png' " + arguments,
                                 environment);
        EXPECT_EQ(run.status, 0) << run.output;
    };
    const auto same = [&](const std::string& a, const std::string& b) {
        return run("cmp '" + folder_ + a + ".png' '" + folder_ + b + ".png'").status == 0;
    };
    made("one", "--frames 4 --device 0");
    made("two", "--frames 2 --device cpu,0");
    made("twice", "--frames 2 --device 0,0 --validate");
    made("listed", "--frames 2", "FIRN_DEVICE=0,cpu");
    for (const char* several : {"two", "twice", "listed"}) EXPECT_TRUE(same("one", several));
}
TEST_F(DeviceChoices, SeveralDevicesAreRefusedByAProgramThatUsesOne) {
    for (const Outcome& made : {wave("--device cpu,0"), wave("", "FIRN_DEVICE=cpu,0")}) {
        EXPECT_EQ(made.status, 2) << made.output;
        EXPECT_NE(made.output.find("2 devices are listed, and this program uses one"),
                  std::string::npos)
            << made.output;
    }
}

}  // namespace
}  // namespace firn
