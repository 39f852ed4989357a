// Videos that a person records in a window, at the rate that he chooses on the panel.
#include <firn/firn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/error.h"
#include "tests/deadline.h"
#include "tests/window/display.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

/// Works in a folder of its own, with an ffmpeg that writes down what it was told.
class VideosInAWindow : public testing::Test {
  protected:
    void SetUp() override {
        if (std::system("command -v Xvfb xdotool > /dev/null") != 0)
            GTEST_SKIP() << "needs Xvfb and xdotool";
        static const std::string devices = device_report();
        if (!devices.starts_with("0  ")) GTEST_SKIP() << "no Vulkan driver: " << devices;
        display_ = std::make_unique<VirtualDisplay>();
        before_ = fs::current_path();
        folder_ = fs::temp_directory_path() / ("firn_videos_" + std::to_string(getpid()));
        fs::create_directories(folder_);
        fs::current_path(folder_);
        std::ofstream("ffmpeg") << "#!/bin/sh\n"
                                   "echo \"$*\" > told; for name; do :; done\n"
                                   "cat > \"${name#file:}\"\n";
        chmod("ffmpeg", 0755);
        path_ = std::getenv("PATH");
        setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
    }
    void TearDown() override {
        if (!display_) return;
        setenv("PATH", path_.c_str(), 1);
        fs::current_path(before_);
        fs::remove_all(folder_);
    }
    /// Frames of a window until `done`.
    static bool frames(Window& window, const Callback<bool()>& done) {
        const Tensor x = zeros({4, 4});
        for (Deadline deadline; !done() && !deadline.is_over() && window.open();) window.show(x);
        return done();
    }
    static void settle(Window& window) {
        const int last = window.frame() + 5;
        frames(window, [&] { return window.frame() >= last; });
    }
    /// Returns the middle of a part, as "x y", once the window has printed where the part is.
    static std::string middle_of(Window& window, const std::string& name) {
        float x = 0, y = 0, width = 0, height = 0;
        std::string said;
        testing::internal::CaptureStdout();
        const auto read = [&] {
            const size_t at = said.rfind("widget " + name + " ");
            if (at != std::string::npos)
                std::sscanf(said.c_str() + at + name.size() + 8, "%f %f %f %f", &x, &y, &width,
                            &height);
        };
        frames(window, [&] {
            said += testing::internal::GetCapturedStdout();
            testing::internal::CaptureStdout();
            read();
            return width > 0;
        });
        settle(window);  // what has opened finds its place
        said += testing::internal::GetCapturedStdout();
        read();
        EXPECT_GT(width, 0) << name << " is not in " << said;
        return "mousemove --window \\$id " + std::to_string(std::lround(x + width / 2)) + " " +
               std::to_string(std::lround(y + height / 2)) + " sleep 0.1 ";
    }
    static std::string content(const fs::path& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }

  private:
    std::unique_ptr<VirtualDisplay> display_;
    fs::path before_, folder_;
    std::string path_;
};

TEST_F(VideosInAWindow, HaveTheRateThatIsChosenOnThePanel) {
    App app({.name = "rated", .help = "A program.", .size = {640, 320}});
    std::vector<std::string> words{"rated", "--forget", "--print-widgets"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    const int status = app.run(static_cast<int>(argv.size()), argv.data(), [&](Window& window) {
        const auto button = [](const char* number) {
            return std::string("mousedown ") + number + " sleep 0.1 mouseup " + number;
        };
        const std::string video = middle_of(window, "video");
        settle(window);
        by_hand("rated", video + button("3"));
        by_hand("rated", middle_of(window, "video rate 10") + button("1"));
        EXPECT_TRUE(frames(window, [&] { return window.video_rate() == 10; }));
        by_hand("rated", "windowfocus \\$id sleep 0.1 key F9");
        EXPECT_TRUE(frames(window, [] { return fs::exists("told"); }));
        by_hand("rated", "windowfocus \\$id sleep 0.1 key F9");
        EXPECT_TRUE(frames(window, [] { return fs::exists("rated-1.mp4"); }));
        window.close();
    });
    EXPECT_EQ(status, 0);
    EXPECT_NE(content("told").find(" -r 10.000000 "), std::string::npos) << content("told");
}

}  // namespace
}  // namespace firn
