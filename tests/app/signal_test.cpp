// Signals end a program with a window in order, and ask first where its work is not saved.
#include <firn/firn.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "compiler/base/error.h"
#include "tests/deadline.h"
#include "tests/window/display.h"

namespace firn {
namespace {

class SignalledInAWindow : public testing::Test {
  protected:
    void SetUp() override {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        if (std::system("command -v Xvfb xdotool > /dev/null") != 0)
            GTEST_SKIP() << "needs Xvfb and xdotool";
        static const std::string devices = device_report();
        if (!devices.starts_with("0  ")) GTEST_SKIP() << "no Vulkan driver: " << devices;
        // A death test's program uses the display of the program that started it.
        if (!std::getenv("FIRN_SIGNAL_DISPLAY")) display_ = std::make_unique<VirtualDisplay>();
        setenv("FIRN_SIGNAL_DISPLAY", "1", 1);
    }
    void TearDown() override { unsetenv("FIRN_SIGNAL_DISPLAY"); }
    /// Frames of a window until `done`.
    static void frames(Window& window, const Callback<bool()>& done) {
        const Tensor x = zeros({4, 4});
        for (Deadline deadline; !done() && !deadline.is_over() && window.open();) window.show(x);
    }
    static bool asks(Window& window) { return window.ending() == WindowEnd::Asks; }
    /// Ends the process with the status of a program that has this in its window.
    [[noreturn]] static void run(const Callback<void(Window&)>& program) {
        App app({.name = "signalled", .help = "A program.", .size = {320, 240}});
        std::vector<std::string> words{"signalled"};
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        std::_Exit(app.run(1, argv.data(), [&](Window& window) {
            int first = window.frame() + 3;
            frames(window, [&] { return window.frame() >= first; });
            program(window);
        }));
    }

  private:
    std::unique_ptr<VirtualDisplay> display_;
};

TEST_F(SignalledInAWindow, EndsAtOnceWhereNothingIsLost) {
    EXPECT_EXIT(run([](Window& window) {
                    raise(SIGINT);
                    frames(window, [] { return false; });
                    if (window.open()) std::_Exit(1);  // it goes on
                }),
                testing::ExitedWithCode(128 + SIGINT), "ending: files that were asked for");
}
TEST_F(SignalledInAWindow, AsksFirstAndIsForgottenWhereThePersonStays) {
    EXPECT_EXIT(run([](Window& window) {
                    window.unsaved("3 strokes");
                    frames(window,
                           [&, seen = window.frame() + 2] { return window.frame() > seen; });
                    for (const char* key : {"Escape", "Escape", "e"}) {
                        raise(SIGINT);
                        frames(window, [&] { return asks(window); });
                        if (!asks(window)) std::_Exit(1);
                        by_hand("signalled", std::string("windowfocus \\$id key ") + key);
                        frames(window, [&] { return !asks(window); });
                    }
                    if (window.ending() != WindowEnd::Closed || window.open()) std::_Exit(2);
                }),
                testing::ExitedWithCode(128 + SIGINT), "the window asks what to do");
}
TEST_F(SignalledInAWindow, TheSecondOneEndsWhatAsks) {
    const auto twice = [](int first, int second) {
        run([=](Window& window) {
            window.unsaved("3 strokes");
            raise(first);
            frames(window, [&] { return asks(window); });
            if (!asks(window)) std::_Exit(1);
            raise(second);
            frames(window, [] { return false; });
            if (window.open()) std::_Exit(2);  // it goes on
        });
    };
    EXPECT_EXIT(twice(SIGINT, SIGINT), testing::KilledBySignal(SIGINT), "");
    EXPECT_EXIT(twice(SIGINT, SIGTERM), testing::ExitedWithCode(128 + SIGTERM), "");
}

}  // namespace
}  // namespace firn
