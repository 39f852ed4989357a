// Videos of windows that are resized meanwhile, and whose display goes away.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <string>

#include "tests/deadline.h"
#include "tests/window/display.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

TEST(Recording, KeepsItsSizeWhileTheWindowIsResized) {
    if (std::system("command -v Xvfb xdotool > /dev/null") != 0)
        GTEST_SKIP() << "needs Xvfb and xdotool";
    if (std::system(FIRN_BIN_DIR "/wave --list-devices | grep -q '^0  '") != 0)
        GTEST_SKIP() << "no Vulkan driver";
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    const std::string folder = testing::TempDir() + "/recording", video = folder + "/wave.mp4";
    fs::remove_all(folder);
    fs::create_directories(folder);
    // An ffmpeg that writes what it is given, pixel by pixel.
    std::ofstream(folder + "/ffmpeg")
        << "#!/bin/sh\nfor name; do :; done\ncat > \"${name#file:}\"\n";
    fs::permissions(folder + "/ffmpeg", fs::perms::owner_all);
    by_hand("wave", "windowsize \\$id 500 400");
    const std::string command = "PATH=" + folder +
                                ":$PATH " FIRN_BIN_DIR "/wave --size 128x96 --frames 240 --out " +
                                video + " > " + folder + "/said 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    drop_hand("space");
    EXPECT_EQ(fs::file_size(video), uintmax_t{240} * 128 * 96 * 4);
}

TEST(Recording, IsWholeWhereTheDisplayGoesAway) {
    if (std::system("command -v Xvfb > /dev/null") != 0) GTEST_SKIP() << "needs Xvfb";
    if (std::system(FIRN_BIN_DIR "/wave --list-devices | grep -q '^0  '") != 0)
        GTEST_SKIP() << "no Vulkan driver";
    const std::string folder = testing::TempDir() + "/recording_without_display",
                      video = folder + "/wave.gif";
    fs::remove_all(folder);
    fs::create_directories(folder);
    auto display = std::make_unique<VirtualDisplay>();
    ASSERT_TRUE(display->works());
    const std::string command = "timeout 300 " FIRN_BIN_DIR "/wave --forget --size 128x96 --out " +
                                video + " > " + folder + "/said 2>&1";
    auto ended = std::async(std::launch::async, [&] { return std::system(command.c_str()); });
    // Until some frames are in the file, wherever it is written meanwhile.
    const auto is_begun = [&] {
        return std::any_of(fs::directory_iterator(folder), fs::directory_iterator(),
                           [](const fs::directory_entry& entry) {
                               return entry.path().filename() != "said" && entry.file_size() > 1000;
                           });
    };
    EXPECT_TRUE(comes_true(is_begun, 60));
    display.reset();
    EXPECT_EQ(WEXITSTATUS(ended.get()), 1);
    std::ifstream written(video, std::ios::binary), said(folder + "/said");
    const std::string bytes(std::istreambuf_iterator<char>(written), {}),
        text(std::istreambuf_iterator<char>(said), {});
    EXPECT_EQ(bytes.substr(0, 6), "GIF89a");
    EXPECT_EQ(bytes.back(), ';') << "which ends one";
    EXPECT_NE(text.find("saved " + video), std::string::npos) << text;
    EXPECT_NE(text.find("wave: the connection to the display was lost"), std::string::npos) << text;
}

TEST(Recording, AKeyBeginsAndEndsAVideo) {
    if (std::system("command -v Xvfb xdotool > /dev/null") != 0)
        GTEST_SKIP() << "needs Xvfb and xdotool";
    if (std::system(FIRN_BIN_DIR "/wave --list-devices | grep -q '^0  '") != 0)
        GTEST_SKIP() << "no Vulkan driver";
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    const std::string folder = testing::TempDir() + "/recording_by_key";
    fs::remove_all(folder);
    fs::create_directories(folder);
    std::ofstream(folder + "/ffmpeg")
        << "#!/bin/sh\nfor name; do :; done\ncat > \"${name#file:}\"\n";
    fs::permissions(folder + "/ffmpeg", fs::perms::owner_all);
    const std::string command = "cd " + folder + " && PATH=" + folder +
                                ":$PATH timeout 300 " FIRN_BIN_DIR
                                "/wave --size 128x96 > said 2>&1";
    auto ended = std::async(std::launch::async, [&] { return std::system(command.c_str()); });
    const std::string video = folder + "/wave-1.mp4", part = video + ".part.mp4";
    const uintmax_t frame = uintmax_t{128} * 96 * 4;
    by_hand("wave", "windowfocus \\$id key F9");
    EXPECT_TRUE(comes_true(
        [&] {
            std::error_code none;
            const uintmax_t size = fs::file_size(part, none);
            return !none && size > 5 * frame;
        },
        60));
    by_hand("wave", "windowfocus \\$id key F9");
    EXPECT_TRUE(comes_true([&] { return fs::exists(video); }, 60));
    by_hand("wave", "windowfocus \\$id key Escape");
    EXPECT_EQ(ended.get(), 0);
    drop_hand("Escape");
    ASSERT_TRUE(fs::exists(video));
    EXPECT_EQ(fs::file_size(video) % frame, 0u);
    EXPECT_GT(fs::file_size(video) / frame, 5u);
    EXPECT_FALSE(fs::exists(part));
}

}  // namespace
}  // namespace firn
