// Films of windows that are resized meanwhile, and whose display goes away.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "tests/window/display.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

TEST(Recording, KeepsItsSizeWhileTheWindowIsResized) {
    if (std::system("command -v Xvfb xdotool > /dev/null") != 0)
        GTEST_SKIP() << "needs Xvfb and xdotool";
    if (std::system(FIRN_BIN_DIR "/wave --list-devices > /dev/null 2>&1") != 0)
        GTEST_SKIP() << "no Vulkan driver";
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    const std::string folder = testing::TempDir() + "/recording", film = folder + "/wave.mp4";
    fs::remove_all(folder);
    fs::create_directories(folder);
    // An ffmpeg that writes what it is given, pixel by pixel.
    std::ofstream(folder + "/ffmpeg")
        << "#!/bin/sh\nfor name; do :; done\ncat > \"${name#file:}\"\n";
    fs::permissions(folder + "/ffmpeg", fs::perms::owner_all);
    by_hand("wave", "search --sync --name '^wave\\$' windowsize 500 400");
    const std::string command = "PATH=" + folder +
                                ":$PATH " FIRN_BIN_DIR "/wave --size 128x96 --frames 240 --out " +
                                film + " > " + folder + "/said 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    drop_hand("space");
    EXPECT_EQ(fs::file_size(film), uintmax_t{240} * 128 * 96 * 4);
}

TEST(Recording, IsWholeWhereTheDisplayGoesAway) {
    if (std::system("command -v Xvfb > /dev/null") != 0) GTEST_SKIP() << "needs Xvfb";
    if (std::system(FIRN_BIN_DIR "/wave --list-devices > /dev/null 2>&1") != 0)
        GTEST_SKIP() << "no Vulkan driver";
    const std::string folder = testing::TempDir() + "/recording_without_display",
                      film = folder + "/wave.gif";
    fs::remove_all(folder);
    fs::create_directories(folder);
    auto display = std::make_unique<VirtualDisplay>();
    ASSERT_TRUE(display->works());
    const std::string command = "timeout 60 " FIRN_BIN_DIR "/wave --forget --size 128x96 --out " +
                                film + " > " + folder + "/said 2>&1";
    auto ended = std::async(std::launch::async, [&] { return std::system(command.c_str()); });
    // Until some frames are in the file, wherever it is written meanwhile.
    const auto is_begun = [&] {
        return std::any_of(fs::directory_iterator(folder), fs::directory_iterator(),
                           [](const fs::directory_entry& entry) {
                               return entry.path().filename() != "said" && entry.file_size() > 1000;
                           });
    };
    for (int wait = 0; wait < 400 && !is_begun(); ++wait)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    display.reset();
    EXPECT_EQ(WEXITSTATUS(ended.get()), 1);
    std::ifstream written(film, std::ios::binary), said(folder + "/said");
    const std::string bytes(std::istreambuf_iterator<char>(written), {}),
        text(std::istreambuf_iterator<char>(said), {});
    EXPECT_EQ(bytes.substr(0, 6), "GIF89a");
    EXPECT_EQ(bytes.back(), ';') << "which ends one";
    EXPECT_NE(text.find("wrote " + film), std::string::npos) << text;
    EXPECT_NE(text.find("wave: the display has gone away"), std::string::npos) << text;
}

TEST(Recording, AKeyBeginsAndEndsAFilm) {
    if (std::system("command -v Xvfb xdotool > /dev/null") != 0)
        GTEST_SKIP() << "needs Xvfb and xdotool";
    if (std::system(FIRN_BIN_DIR "/wave --list-devices > /dev/null 2>&1") != 0)
        GTEST_SKIP() << "no Vulkan driver";
    VirtualDisplay display;
    ASSERT_TRUE(display.works());
    const std::string folder = testing::TempDir() + "/recording_by_key";
    fs::remove_all(folder);
    fs::create_directories(folder);
    std::ofstream(folder + "/ffmpeg")
        << "#!/bin/sh\nfor name; do :; done\ncat > \"${name#file:}\"\n";
    fs::permissions(folder + "/ffmpeg", fs::perms::owner_all);
    by_hand("wave", "search --sync --name '^wave\\$' windowfocus sleep 0.5 key F9 sleep 1 key F9");
    const std::string command = "cd " + folder + " && PATH=" + folder +
                                ":$PATH " FIRN_BIN_DIR
                                "/wave --size 128x96 --frames 240 > said 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    drop_hand("space");
    ASSERT_TRUE(fs::exists(folder + "/wave-1.mp4"));
    const uintmax_t bytes = fs::file_size(folder + "/wave-1.mp4"), frame = uintmax_t{128} * 96 * 4;
    EXPECT_EQ(bytes % frame, 0u);
    EXPECT_GT(bytes / frame, 5u);
    EXPECT_LT(bytes / frame, 235u);
}

}  // namespace
}  // namespace firn
