// Ctrl-C ends a program within a second in every state: tested by real signals to real processes.
#include <firn/firn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "engine/runtime/vulkan_executor.h"
#include "tests/deadline.h"
#include "tests/window/display.h"

namespace firn {
namespace {

namespace fs = std::filesystem;

/// A program in a process of its own, which gets signals.
class LongLoops : public testing::Test {
  protected:
    void SetUp() override {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
    }
    void TearDown() override {
        if (process_ <= 0) return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }
    /// Runs `program`, until it calls work(). False where there is no driver, or it ended before.
    bool start(std::vector<std::string> arguments, const Callback<void(Window&)>& program) {
        process_ = fork();
        if (process_ != 0) {
            comes_true([&] { return fs::exists(at_work_) || !is_running(); }, 60);
            const bool begun = fs::exists(at_work_) && is_running();
            if (!begun && said().find("no Vulkan") == std::string::npos) ADD_FAILURE() << said();
            return begun;
        }
        std::signal(SIGINT, SIG_DFL);  // tests that run in the background may ignore it
        // With measured rates the runtime cuts minutes of work into submissions and waits for each:
        // no signal would arrive during a long one.
        setenv("FIRN_RATES", "reference", 1);
        if (!freopen((folder_ + "/said").c_str(), "w", stderr)) _exit(127);
        dup2(STDERR_FILENO, STDOUT_FILENO);
        App app({.name = "long", .help = "A program.", .size = {16, 16}});
        arguments.insert(arguments.begin(), {"long", "--forget", "--frames", "1000000"});
        if (!in_window_) arguments.push_back("--headless");
        std::vector<char*> argv;
        for (std::string& argument : arguments) argv.push_back(argument.data());
        const int status = app.run(static_cast<int>(argv.size()), argv.data(), program);
        std::fflush(nullptr);
        _exit(status);
    }
    /// The program's work, in the frame that takes long.
    void work() const { std::ofstream(at_work_) << "."; }
    /// Frames, of which this one has a loop of kernels: elements read their neighbours.
    void long_frame(Window& window, int which) const {
        while (window.open()) {
            window.show(full({16, 16}, float(window.frame() % 2)));
            if (window.frame() < which) continue;
            Tensor x = zeros({8});
            for (Tensor k : loop(2'000'000'000)) x = max(x, wrap(x)(arange(8) + 1)) + 1.0f;
            window.executor().set_progress([this](const RunProgress&) { work(); }, 0.2);
            x.to_vector<float>();
        }
    }
    bool is_running() {
        if (process_ > 0 && waitpid(process_, &status_, WNOHANG) == process_) process_ = -1;
        return process_ > 0;
    }
    /// Its status; negative where a signal ended it. `seconds_`: until then.
    int signalled(int number) {
        Deadline deadline(60);
        kill(process_, number);
        while (is_running() && !deadline.is_over())
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        seconds_ = deadline.seconds();
        return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
    }
    pid_t child() const { return process_; }
    std::string said() const {
        std::stringstream text;
        text << std::ifstream(folder_ + "/said").rdbuf();
        return text.str();
    }
    void expect_said(const std::string& part) const {
        EXPECT_NE(said().find(part), std::string::npos) << said();
    }

    const std::string folder_ = testing::TempDir() + "/long_loops_" + std::to_string(getpid()),
                      at_work_ = folder_ + "/at_work";
    double seconds_ = 0;
    bool in_window_ = false;

  private:
    pid_t process_ = -1;
    int status_ = 0;
};

TEST_F(LongLoops, ALoopOfKernelsEndsAndThePictureBeforeItIsWritten) {
    const std::string picture = folder_ + "/long.png";
    if (!start({"--out", picture}, [&](Window& window) { long_frame(window, 3); })) return;
    EXPECT_EQ(signalled(SIGINT), 128 + SIGINT);
    EXPECT_LT(seconds_, 1);
    expect_said("long: ");
    expect_said("ended before it was done");
    // On a busy machine a second may be over before the kernel is: then it is left, and the picture
    // that stands behind it is not saved. On a quiet one that would take longer than is allowed.
    const bool left = said().find(picture + " is not saved") != std::string::npos;
    if (!left) expect_said("saved " + picture);
    EXPECT_EQ(fs::exists(picture), !left);
}

TEST_F(LongLoops, ALoopOfCallsThatOpensNoFrameEnds) {
    const auto calls = [&](Window& window) {
        auto step = compile(
            [](Tensor x) {
                for (Tensor k : loop(64)) x = sin(x) + 1.0f;
                return x;
            },
            {f32("n")});
        window.open();
        Tensor x = ones({1 << 18});
        for (int k = 0; k < 1'000'000'000; ++k) {
            x = step(x);
            if (k == 10) work();
        }
    };
    if (!start({}, calls)) return;
    EXPECT_EQ(signalled(SIGINT), 128 + SIGINT);
    EXPECT_LT(seconds_, 1);
    expect_said("ended before it was done");
}

TEST_F(LongLoops, AVideoOfTheFramesBeforeIsWhole) {
    const std::string video = folder_ + "/long.gif";
    if (!start({"--out", video}, [&](Window& window) { long_frame(window, 5); })) return;
    EXPECT_EQ(signalled(SIGTERM), 128 + SIGTERM);
    EXPECT_LT(seconds_, 1);
    expect_said("saved " + video);
    std::ifstream in(video, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    EXPECT_EQ(bytes.substr(0, 6), "GIF89a");
    EXPECT_EQ(bytes.back(), ';') << "which ends one";
}

/// Shows frames, and has the device at work in one dispatch of minutes from frame `which` on.
void show_and_dispatch(Window& window, int which, const std::function<void()>& work) {
    while (window.open()) {
        window.show(full({16, 16}, float(window.frame() % 2)));
        if (window.frame() < which) continue;
        Tensor x = ones({64});
        kernel({64}, [&](Tensor i) {
            Tensor sum = 0.0f;
            for (Tensor k : loop(30'000))
                for (Tensor l : loop(30'000)) sum = sin(sum) + 1.0f;
            x(i) = sum;
        });
        realize({&x});
        work();
        x.to_vector<float>();
    }
}

TEST_F(LongLoops, OneLongDispatchIsLeftBehindAndTheVideoIsWhole) {
    const std::string video = folder_ + "/long.gif";
    if (!start({"--out", video},
               [&](Window& window) { show_and_dispatch(window, 5, [&] { work(); }); }))
        return;
    EXPECT_EQ(signalled(SIGINT), 128 + SIGINT);
    EXPECT_LT(seconds_, 1.2);
    expect_said("waiting for '");
    expect_said("ended before it was done; the work is abandoned");
    expect_said("saved " + video);
    std::ifstream in(video, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    EXPECT_EQ(bytes.substr(0, 6), "GIF89a");
    EXPECT_EQ(bytes.back(), ';') << "which ends one";
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3) << "no other file is left";
}

TEST_F(LongLoops, APictureBehindOneLongDispatchIsSaidToBeMissing) {
    const std::string picture = folder_ + "/long.png";
    if (!start({"--out", picture},
               [&](Window& window) { show_and_dispatch(window, 5, [&] { work(); }); }))
        return;
    EXPECT_EQ(signalled(SIGTERM), 128 + SIGTERM);
    EXPECT_LT(seconds_, 1.2);
    expect_said("the work is abandoned, and " + picture + " is not saved");
    EXPECT_FALSE(fs::exists(picture));
}

TEST_F(LongLoops, ALoopOfTheHostThatRecordsWithoutEndEnds) {
    const auto record = [&](Window& window) {
        window.open();
        Tensor x = ones({8});
        for (int k = 0; k < 1'000'000'000; ++k) {
            x = sin(x) + 1.0f;
            if (k == 1000) work();
        }
    };
    if (!start({}, record)) return;
    EXPECT_EQ(signalled(SIGINT), 128 + SIGINT);
    EXPECT_LT(seconds_, 1.2);
    expect_said("recording ");
    expect_said("ended before it was done");
}

TEST_F(LongLoops, AGraphOfVeryManyStatementsEndsWhereverItIs) {
    for (int wait : {0, 1}) {
        SetUp();
        const auto statements = [&](Window& window) {
            window.open();
            Tensor x = ones({8});
            for (int k = 0; k < 120'000; ++k) x = sin(x) + float(k % 7);
            work();
            x.to_vector<float>();
        };
        if (!start({}, statements)) return;
        for (Deadline deadline(wait); !deadline.is_over();)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        ASSERT_TRUE(is_running()) << "it was done before";
        EXPECT_EQ(signalled(SIGINT), 128 + SIGINT);
        // A process that is left after a second still has to free its memory.
        EXPECT_LT(seconds_, 2) << said();
        expect_said("ended before it was done");
    }
}

TEST_F(LongLoops, ASecondOneKills) {
    const auto other_work = [&](Window& window) {
        window.open();
        work();
        for (;;) pause();  // what is no work of Firn's
    };
    if (!start({}, other_work)) return;
    std::thread second([&] {
        comes_true([&] { return said().find("once more") != std::string::npos; });
        kill(child(), SIGINT);
    });
    EXPECT_EQ(signalled(SIGINT), -SIGINT);
    second.join();
}

class LongLoopsInAWindow : public LongLoops {
  protected:
    void SetUp() override {
        LongLoops::SetUp();
        if (!display_.works()) GTEST_SKIP() << "needs Xvfb";
        in_window_ = true;
    }
    VirtualDisplay display_;
};

TEST_F(LongLoopsInAWindow, EndWithinASecondToo) {
    const std::string video = folder_ + "/long.gif";
    if (!start({"--out", video}, [&](Window& window) { long_frame(window, 5); })) return;
    EXPECT_EQ(signalled(SIGINT), 128 + SIGINT);
    EXPECT_LT(seconds_, 1);
    expect_said("ended before it was done");
    expect_said("saved " + video);
}

TEST_F(LongLoopsInAWindow, LeaveOneLongDispatchBehindToo) {
    const std::string video = folder_ + "/long.gif";
    if (!start({"--out", video},
               [&](Window& window) { show_and_dispatch(window, 5, [&] { work(); }); }))
        return;
    EXPECT_EQ(signalled(SIGINT), 128 + SIGINT);
    EXPECT_LT(seconds_, 1.2);
    expect_said("the work is abandoned");
    expect_said("saved " + video);
}

}  // namespace
}  // namespace firn
