// Real windows under a virtual display, with real clicks; validation must stay silent.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "compiler/language.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

/// Returns a picture of the screen's part with windows of 640 x 320 pixels; empty if it cannot be
/// taken.
Picture screenshot() {
    const std::string path =
        testing::TempDir() + "/screenshot_" + std::to_string(getpid()) + ".png";
    if (std::system(("import -window root -crop 640x320+0+0 +repage " + path).c_str()) != 0)
        return {};
    Picture picture = read_picture(path);
    std::filesystem::remove(path);
    return picture;
}

TEST_F(RealWindow, DraggingASliderChangesItsVariable) {
    float dt = 0.1f;
    ViewWindow window(executor, options("slider"));
    window.gui().slider("dt", dt, 0.0f, 0.5f);
    settle(window);
    Rectangle slider = window.gui().find("dt")->rectangle;
    float y = slider.y + slider.height / 2;
    by_hand("slider", at(slider.x + slider.width * 0.2f, y) + "sleep 0.15 mousedown 1 sleep 0.3 " +
                          at(slider.x + slider.width * 0.8f, y) + "sleep 0.3 mouseup 1");
    EXPECT_TRUE(frames_until(window, [&] { return std::abs(dt - 0.4f) < 0.02f; })) << dt;
}

TEST_F(RealWindow, AStepIsTheChangeByAPixel) {
    float x = -0.745f;
    ViewWindow window(executor, options("step"));
    window.gui().slider("x", x, -2.5f, 1.5f, {.step = 1e-5f});
    settle(window);
    Rectangle slider = window.gui().find("x")->rectangle;
    const float middle = slider.x + slider.width / 2, y = slider.y + slider.height / 2;
    by_hand("step", at(middle, y) + "sleep 0.15 mousedown 1 sleep 0.3 " + at(middle + 20, y) +
                        "sleep 0.3 " + at(middle + 60, y) + "sleep 0.3 mouseup 1");
    EXPECT_TRUE(frames_until(window, [&] { return std::abs(x + 0.7444f) < 2e-5f; })) << x;
}

TEST_F(RealWindow, AClickPressesAButtonOnce) {
    ViewWindow window(executor, options("button"));
    window.gui().button("splash");
    settle(window);
    Rectangle button = window.gui().find("splash")->rectangle;
    by_hand("button", at(button.x + button.width / 2, button.y + button.height / 2) +
                          "sleep 0.15 mousedown 1 sleep 0.1 mouseup 1");
    int presses = 0;
    auto pressed = [&] { return (presses += window.gui().button("splash")) > 0; };
    EXPECT_TRUE(frames_until(window, pressed));
    settle(window);
    pressed();
    EXPECT_EQ(presses, 1);
}

TEST_F(RealWindow, AStrokeArrivesInTensorCoordinates) {
    ViewWindow window(executor, options("stroke"));
    settle(window);
    // 640x320 pixels show 40 x 80 elements: 8 pixels each.
    by_hand("stroke", at(400, 200) + "sleep 0.2 mousedown 1 sleep 0.3 " + at(480, 240) +
                          "sleep 0.3 mouseup 1");
    float from_i = -1, from_j = -1, to_i = 0, to_j = 0;
    bool released = false;
    frames_until(window, [&] {
        const Mouse& mouse = window.mouse();
        if (mouse.left.pressed) from_i = mouse.i, from_j = mouse.j;
        if (mouse.left.down) to_i = mouse.i, to_j = mouse.j;
        return released = released || mouse.left.released;
    });
    EXPECT_NEAR(from_i, 25, 0.2);
    EXPECT_NEAR(from_j, 50, 0.2);
    EXPECT_NEAR(to_i, 30, 0.2);
    EXPECT_NEAR(to_j, 60, 0.2);
}

TEST_F(RealWindow, ThePanelKeepsItsClicksFromTheTensor) {
    float dt = 0.1f;
    ViewWindow window(executor, options("capture"));
    window.gui().slider("dt", dt, 0.0f, 0.5f);
    settle(window);
    Rectangle slider = window.gui().find("dt")->rectangle;
    by_hand("capture",
            at(slider.x + 9, slider.y + 9) + "sleep 0.3 mousedown 1 sleep 0.3 mouseup 1");
    bool reached = false;
    frames_until(window, [&] {
        reached = reached || window.mouse().left.down;
        return dt < 0.05f;
    });
    EXPECT_LT(dt, 0.05f);
    EXPECT_FALSE(reached);
}

TEST_F(RealWindow, ResizingKeepsTheState) {
    float dt = 0.3f;
    ViewWindow window(executor, options("resize"));
    window.gui().slider("dt", dt, 0.0f, 0.5f);
    settle(window);
    by_hand("resize", "windowsize \\$id 500 400");
    EXPECT_TRUE(frames_until(window, [&] { return window.size().width == 500; }));
    settle(window);
    EXPECT_EQ(window.size().height, 400);
    EXPECT_EQ(dt, 0.3f);
}

TEST_F(RealWindow, ThePanelComesBackAfterOddSizes) {
    float dt = 0.3f;
    ViewWindow window(executor, options("odd"));
    window.gui().slider("dt", dt, 0.0f, 0.5f);
    settle(window);
    const Rectangle before = window.gui().find("dt")->rectangle;
    for (const char* size : {"60 320", "640 30", "1 1"}) {
        by_hand("odd", std::string("windowsize \\$id ") + size);
        EXPECT_TRUE(frames_until(window, [&] { return window.pixels() != WindowSize{640, 320}; }));
        settle(window);
        by_hand("odd", "windowsize \\$id 640 320");
        EXPECT_TRUE(frames_until(window, [&] { return window.pixels() == WindowSize{640, 320}; }));
        settle(window);
        const Rectangle after = window.gui().find("dt")->rectangle;
        EXPECT_EQ(after.x, before.x) << size;
        EXPECT_EQ(after.y, before.y) << size;
        EXPECT_EQ(after.width, before.width) << size;
    }
}

TEST_F(RealWindow, TheScreenShowsWhatAHeadlessPictureShows) {
    ViewWindow window(executor, options("screen"));
    settle(window);
    by_hand("screen", "windowfocus \\$id key h");
    EXPECT_TRUE(frames_until(window, [&] { return !window.shows_panel(); }));
    settle(window);
    ViewWindow headless(executor, {.size = {640, 320}, .headless = true});
    headless.show(gradient);
    const Picture picture = headless.picture();
    // The last frame comes to the screen when the display gets to it.
    int largest = 255;
    EXPECT_TRUE(comes_true([&] {
        const Picture screen = screenshot();
        if (screen.rgba.size() != picture.rgba.size()) return false;
        largest = 0;
        for (size_t k = 0; k < picture.rgba.size(); ++k)
            largest = std::max(largest, std::abs(screen.rgba[k] - picture.rgba[k]));
        return largest <= 1;
    })) << largest;
}

TEST_F(RealWindow, TheMouseDoesNotMoveInTheFirstFrame) {
    ViewWindow window(executor, options("still"));
    window.show(gradient);
    ASSERT_TRUE(window.open());
    EXPECT_EQ(window.mouse().di, 0);
    EXPECT_EQ(window.mouse().dj, 0);
}

TEST_F(RealWindow, ThePanelIsThereBeforeTheFirstFrame) {
    ViewWindow window(executor, options("first"));
    ASSERT_TRUE(window.open());
    int bright = 0;  // the panel's text
    EXPECT_TRUE(comes_true([&] {
        const Picture screen = screenshot();
        bright = 0;
        for (size_t k = 0; k < screen.rgba.size(); k += 4) bright += screen.rgba[k] > 150;
        return bright > 100;
    })) << bright;
}

TEST_F(RealWindow, SpacePausesAndNMakesOneStep) {
    ViewWindow window(executor, options("pause"));
    settle(window);
    window.playing();              // from now on open() returns while it is paused
    std::optional<Deadline> rest;  // behind the step
    window.close_when(
        [&, all = Deadline()]() mutable { return all.is_over() || (rest && rest->is_over()); });
    by_hand("pause", "windowfocus \\$id key space");
    int stopped = 0, steps = 0, after = 0;
    while (window.open()) {
        if (steps > 0)
            after += window.playing();
        else if (!window.playing())
            ++stopped;
        else if (stopped > 0)
            ++steps, rest.emplace(0.5);
        if (stopped == 1 && steps == 0) by_hand("pause", "windowfocus \\$id key n");
        window.show(gradient);
    }
    EXPECT_GT(stopped, 0);
    EXPECT_EQ(steps, 1);
    EXPECT_EQ(after, 0);
}

TEST_F(RealWindow, AProgramThatDoesNotAskIsHeldWhilePaused) {
    ViewWindow window(executor, options("held"));
    settle(window);
    close_after(window, 60);
    by_hand("held",
            "windowfocus \\$id key space; sleep 1.5; xdotool key n; sleep 0.3; xdotool key Escape");
    double longest = 0;
    auto last = std::chrono::steady_clock::now();
    while (window.open()) {
        auto now = std::chrono::steady_clock::now();
        longest = std::max(longest, std::chrono::duration<double>(now - last).count());
        last = now;
        window.show(gradient);
    }
    EXPECT_GT(longest, 1.0);
}

TEST_F(RealWindow, EscapeCloses) {
    ViewWindow window(executor, options("escape"));
    settle(window);
    by_hand("escape", "windowfocus \\$id key Escape");
    EXPECT_FALSE(frames_until(window, [] { return false; }));
    EXPECT_FALSE(window.open());
}

TEST_F(RealWindow, AKeyThatWasHeldBeforeTheWindowOpenedIsNotPressedByItsRepeats) {
    await_hand();  // of the test before, which lets go of Escape last
    ASSERT_EQ(std::system("xdotool keydown Escape"), 0);
    {
        ViewWindow window(executor, options("held before"));
        EXPECT_TRUE(frames_until(window, [&] { return window.key_down(Key::Escape); }));
        EXPECT_FALSE(window.key_pressed(Key::Escape));
        settle(window);
        const bool is_open = window.open();
        ASSERT_EQ(std::system("xdotool keyup Escape"), 0);
        ASSERT_TRUE(is_open);
        EXPECT_TRUE(frames_until(window, [&] { return !window.key_down(Key::Escape); }));
        by_hand("held before", "windowfocus \\$id key Escape");
        EXPECT_FALSE(frames_until(window, [] { return false; }));
        EXPECT_FALSE(window.open());
    }
    await_hand();
}

TEST_F(RealWindow, AScreenshotThatCannotBeWrittenIsSaidAndTheProgramGoesOn) {
    WindowOptions wanted = options("unwritable");
    wanted.screenshot_path = "/proc/none.png";
    ViewWindow window(executor, wanted);
    settle(window);
    testing::internal::CaptureStderr();
    by_hand("unwritable", "windowfocus \\$id key s");
    await_hand();
    settle(window);
    EXPECT_TRUE(window.open());
    EXPECT_NE(testing::internal::GetCapturedStderr().find("unwritable: picture /proc/none.png"),
              std::string::npos);
}

TEST_F(RealWindow, ShortcutsAreKeysWithoutControl) {
    const std::string path = testing::TempDir() + "/shortcut.png";
    std::filesystem::remove(path);
    WindowOptions wanted = options("shortcut");
    wanted.screenshot_path = path;
    ViewWindow window(executor, wanted);
    settle(window);
    int keys = 0;
    const auto pressed = [&] { return keys += window.key_pressed('S'), keys > 0; };
    by_hand("shortcut", "windowfocus \\$id key ctrl+s");
    EXPECT_TRUE(frames_until(window, pressed));
    settle(window);
    EXPECT_FALSE(std::filesystem::exists(path));
    by_hand("shortcut", "windowfocus \\$id key s");
    EXPECT_TRUE(frames_until(window, [&] { return std::filesystem::exists(path); }));
    std::filesystem::remove(path);
}

TEST_F(RealWindow, ValuesAreTypedCopiedAndPasted) {
    float a = 0.1f, b = 0.2f;
    ViewWindow window(executor, options("typing"));
    window.gui().slider("a", a, 0.0f, 0.5f);
    window.gui().slider("b", b, 0.0f, 0.5f);
    settle(window);
    const auto field = [&](const char* name) {
        Rectangle slider = window.gui().find(name)->rectangle;
        return "keydown ctrl sleep 0.2 " + at(slider.x + slider.width / 2, slider.y + 9) +
               "sleep 0.2 click 1 sleep 0.3 keyup ctrl sleep 0.2 ";
    };
    const std::string focus = "windowfocus \\$id sleep 0.3 ";
    by_hand("typing", focus + field("a") + "type 0.375");
    EXPECT_TRUE(frames_until(window, [&] { return a == 0.375f; })) << a;
    by_hand("typing",
            "key ctrl+a; sleep 0.2; xdotool key ctrl+c; sleep 0.2; xdotool key Return; "
            "sleep 0.2; xdotool " +
                field("b") + "key ctrl+v");
    EXPECT_TRUE(frames_until(window, [&] { return b == 0.375f; })) << b;
    by_hand("typing", "key ctrl+a; sleep 0.2; xdotool type 7");
    EXPECT_TRUE(frames_until(window, [&] { return b == 0.5f; })) << b;
    by_hand("typing", "key ctrl+a; sleep 0.2; xdotool type nan");
    await_hand();
    settle(window, 10);
    EXPECT_EQ(b, 0.5f);
}

TEST_F(RealWindow, KernelTimesAreThoseOfTheFrame) {
    SessionScope scope{Session(executor)};
    auto busy = compile(
        [](Tensor x) { return sin(exp(sin(exp(sin(exp(sin(exp(sin(x + 1.0f))))))))); }, {f32("n")});
    WindowOptions options{.title = "times", .size = {640, 320}, .max_rate = 0, .profile = true};
    ViewWindow window(executor, options);
    Tensor x = zeros({1 << 20});
    using Clock = std::chrono::steady_clock;
    Clock::time_point begin;
    double kernels = 0;  // milliseconds
    for (int frame = 0; frame < 12 && window.open(); ++frame) {
        if (frame == 4) begin = Clock::now();  // the first ones compile
        if (frame > 4)
            for (const KernelTime& time : window.kernel_times())
                kernels += time.milliseconds * time.dispatches;
        x = busy(x);
        window.show(gradient);
    }
    double frames = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    EXPECT_GT(kernels, 0.4 * frames);
    EXPECT_LT(kernels, frames);
}

TEST_F(RealWindow, TwoWindowsAreOpenAtOnce) {
    ViewWindow first(executor, options("first")), second(executor, options("second"));
    for (int frame = 0; frame < 4; ++frame) {
        EXPECT_TRUE(first.open() && second.open());
        first.show(gradient);
        second.show(gradient, {.colormap = colormap::magma});
    }
}

TEST(NoDisplay, SaysSoAndWhatToDo) {
    std::shared_ptr<VulkanExecutor> executor;
    try {
        executor = std::make_shared<VulkanExecutor>(Device::create());
    } catch (const DeviceError& error) {
        GTEST_SKIP() << "no device: " << error.what();
    }
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    try {
        ViewWindow window(executor, {});
        FAIL() << "opened";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("window: there is no display"), std::string::npos)
            << error.what();
        EXPECT_NE(std::string(error.what()).find("--headless"), std::string::npos);
    }
}

}  // namespace
}  // namespace firn
