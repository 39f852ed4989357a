// Videos through an ffmpeg that dies, one that writes what it was told, and names that look like
// options.
#include "engine/app/video.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/base/error.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

/// A folder of its own to work in, with an ffmpeg that is a script.
class Video : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("firn_video_" + std::to_string(getpid()));
        fs::create_directories(folder_);
        before_ = fs::current_path();
        fs::current_path(folder_);
        path_ = std::getenv("PATH");
        setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
        // The program itself decides how SIGPIPE is handled.
        std::signal(SIGPIPE, SIG_DFL);
    }
    void TearDown() override {
        setenv("PATH", path_.c_str(), 1);
        fs::current_path(before_);
        fs::remove_all(folder_);
    }
    void ffmpeg_is(const std::string& script) {
        std::ofstream("ffmpeg") << "#!/bin/sh\n" << script << "\n";
        chmod("ffmpeg", 0755);
    }
    static std::string content(const std::string& path) {
        std::stringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }

    const Picture frame_{64, 64, std::vector<uint8_t>(4 * 64 * 64, 7)};
    fs::path folder_, before_;
    std::string path_;
};

TEST_F(Video, AnFfmpegThatDiesIsAnErrorAndTheProgramGoesOn) {
    ffmpeg_is("exit 3");
    std::string said;
    try {
        VideoWriter writer("video.mp4");
        for (int k = 0; k < 1000; ++k) writer.add(frame_);
    } catch (const UserError& error) {
        said = error.what();
    }
    EXPECT_EQ(said, "video video.mp4: ffmpeg ended early; see its message above");
    EXPECT_FALSE(fs::exists("video.mp4"));
    ffmpeg_is("for name; do :; done; cat > ${name#file:}");
    VideoWriter writer("video.mp4");
    for (int k = 0; k < 3; ++k) writer.add(frame_);
    EXPECT_EQ(writer.finish(), "video.mp4");
    EXPECT_EQ(fs::file_size("video.mp4"), 3 * frame_.rgba.size());
    struct sigaction now {};
    sigaction(SIGPIPE, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL);
}

TEST_F(Video, AnFfmpegThatFailsAtTheEndIsAnError) {
    ffmpeg_is("cat > /dev/null; exit 1");
    VideoWriter writer("video.mp4");
    writer.add(frame_);
    EXPECT_THROW(writer.finish(), UserError);
}

TEST_F(Video, PlaysAsManyFramesASecondAsItIsTold) {
    ffmpeg_is("echo \"$*\" > last; for name; do :; done; cat > \"${name#file:}\"");
    VideoWriter writer("film.mp4", 2);
    writer.add(frame_);
    writer.finish();
    EXPECT_NE(content("last").find(" -r 2.000000 "), std::string::npos) << content("last");
}

TEST_F(Video, ANameIsNeitherAnOptionNorACommand) {
    ffmpeg_is("for name; do :; done; echo \"$name\" > last; cat > \"${name#file:}\"");
    for (const std::string name :
         {"-filter_complex.mp4", "a b;touch stolen;'.mp4", "$(touch stolen).mp4"}) {
        VideoWriter writer(name);
        writer.add(frame_);
        EXPECT_EQ(writer.finish(), name);
        EXPECT_EQ(content("last"), "file:" + name + ".part.mp4\n");
        EXPECT_TRUE(fs::exists(name));
    }
    EXPECT_FALSE(fs::exists("stolen"));
}

TEST_F(Video, AVideoHasTheFramesTheirColoursAndAnEvenSize) {
    if (!can_make_videos()) GTEST_SKIP() << "needs ffmpeg";
    Picture red{63, 33, std::vector<uint8_t>(size_t{4} * 63 * 33, 200)};
    for (size_t k = 0; k < red.rgba.size(); ++k)
        if (k % 4 == 1 || k % 4 == 2) red.rgba[k] = 30;
    VideoWriter writer("video.mp4");
    for (int k = 0; k < 5; ++k) writer.add(red);
    EXPECT_EQ(writer.finish(), "video.mp4");
    // Decodes like a player that has no metadata.
    ASSERT_EQ(std::system("ffmpeg -loglevel error -i video.mp4 -vf scale=in_color_matrix=bt709 "
                          "-f rawvideo -pix_fmt rgba video.raw"),
              0);
    const std::string pixels = content("video.raw");
    ASSERT_EQ(pixels.size(), size_t{5} * 64 * 34 * 4);
    for (size_t k = 0; k < pixels.size(); k += 4) {
        ASSERT_NEAR(uint8_t(pixels[k]), 200, 4) << k;
        ASSERT_NEAR(uint8_t(pixels[k + 1]), 30, 4) << k;
        ASSERT_NEAR(uint8_t(pixels[k + 2]), 30, 4) << k;
    }
}
TEST_F(Video, WhatIsGivenUpIsRemoved) {
    ffmpeg_is("for name; do :; done; cat > ${name#file:}");
    { VideoWriter("video.mp4").add(frame_); }
    EXPECT_FALSE(fs::exists("video.mp4"));
    EXPECT_FALSE(fs::exists("video.mp4.part.mp4"));
}

}  // namespace
}  // namespace firn
