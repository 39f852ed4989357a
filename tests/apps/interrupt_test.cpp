// A signal ends a run in order: what was asked for is written, and said.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/deadline.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

/// A program of very many frames that gets a signal, with all that it started, when it is `ready`.
class Interrupted : public testing::Test {
  protected:
    void SetUp() override {
        path_ = std::getenv("PATH");
        fs::create_directories(folder_);
        for (const auto& entry : fs::directory_iterator(folder_)) fs::remove(entry);
        if (std::system(FIRN_BIN_DIR "/wave --list-devices | grep -q '^0  '") != 0)
            GTEST_SKIP() << "no Vulkan driver";
    }
    void TearDown() override { setenv("PATH", path_.c_str(), 1); }
    /// Its exit status, negative where a signal ended it.
    int run(std::vector<std::string> words, int number,
            const std::function<bool(pid_t process)>& ready) {
        words.insert(words.begin(), {std::string(FIRN_BIN_DIR) + "/" + program_, "--headless",
                                     "--frames", "1000000", "--size", "64x64"});
        const pid_t process = fork();
        if (process == 0) {
            setpgid(0, 0);
            if (!freopen((folder_ + "/said").c_str(), "w", stderr)) _exit(127);
            dup2(STDERR_FILENO, STDOUT_FILENO);
            std::vector<char*> argv;
            for (std::string& word : words) argv.push_back(word.data());
            argv.push_back(nullptr);
            execv(argv[0], argv.data());
            _exit(127);
        }
        EXPECT_TRUE(comes_true([&] { return ready(process); }, 60)) << said();
        kill(-process, number);
        Deadline deadline;
        int status = -1;
        while (waitpid(process, &status, WNOHANG) == 0)
            if (deadline.is_over())
                kill(process, SIGKILL);
            else
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
        seconds_ = deadline.seconds();
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    /// Seconds of processors that a process has had.
    static double time_of(pid_t process) {
        std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
        std::string word;
        double ticks = 0, used = 0;
        for (int field = 1; field <= 15 && stat >> word; ++field)
            if (field > 13) ticks = std::stod(word), used += ticks;
        return used / double(sysconf(_SC_CLK_TCK));
    }
    /// It has had so many: past its beginning, however busy the machine is.
    static std::function<bool(pid_t)> works_for(double seconds) {
        return [=](pid_t process) { return time_of(process) > seconds; };
    }
    std::string said() const {
        std::stringstream text;
        text << std::ifstream(folder_ + "/said").rdbuf();
        return text.str();
    }

    std::string program_ = "wave";
    std::string path_;
    double seconds_ = 0;  // of Deadline, from the signal to the end
    const std::string folder_ = testing::TempDir() + "/interrupted";
};

TEST_F(Interrupted, ByCtrlCWritesThePictureAndTheTrace) {
    const std::string picture = folder_ + "/wave.png", trace = folder_ + "/wave.json";
    EXPECT_EQ(run({"--out", picture, "--profile", trace}, SIGINT, works_for(1.5)), 128 + SIGINT);
    EXPECT_LT(seconds_, 4);
    EXPECT_TRUE(fs::exists(picture) && fs::exists(trace));
    EXPECT_NE(said().find("saved " + picture), std::string::npos) << said();
    EXPECT_NE(said().find("saved " + trace), std::string::npos) << said();
}

TEST_F(Interrupted, WithinACompileEndsItAtOnce) {
    program_ = "fluid_control";  // which compiles for many seconds
    setenv("FIRN_NO_CACHE", "1", 1);
    const std::string picture = folder_ + "/early.png";
    EXPECT_EQ(run({"--out", picture}, SIGINT, works_for(1.5)), 128 + SIGINT);
    unsetenv("FIRN_NO_CACHE");
    EXPECT_LT(seconds_, 2);
    EXPECT_NE(said().find("fluid_control: compiling "), std::string::npos) << said();
    EXPECT_NE(said().find("ended before it was done"), std::string::npos) << said();
    // A compile that does not end within a second is abandoned, with another message.
    EXPECT_TRUE(said().find("nothing was saved: no frame was drawn") != std::string::npos ||
                said().find(picture + " is not saved") != std::string::npos)
        << said();
    EXPECT_FALSE(fs::exists(picture));
}

TEST_F(Interrupted, ByTerminationEndsTheVideoWhole) {
    if (std::system("command -v ffmpeg > /dev/null") != 0) {
        // A program that writes what it is given, unless the signal meets it too.
        std::ofstream(folder_ + "/ffmpeg") << "#!/bin/sh\nfor name; do :; done\n"
                                              "cat > \"${name#file:}\"\n";
        fs::permissions(folder_ + "/ffmpeg", fs::perms::owner_all);
        setenv("PATH", (folder_ + ":" + std::getenv("PATH")).c_str(), 1);
    }
    const std::string video = folder_ + "/wave.mp4";
    EXPECT_EQ(
        run({"--out", video}, SIGTERM, [&](pid_t) { return fs::exists(video + ".part.mp4"); }),
        128 + SIGTERM);
    EXPECT_TRUE(fs::exists(video));
    EXPECT_FALSE(fs::exists(video + ".part.mp4"));
    EXPECT_NE(said().find("saved " + video), std::string::npos) << said();
}

}  // namespace
}  // namespace firn
