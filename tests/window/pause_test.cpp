// A pause stops time and nothing else: sliders, views and other windows go on, and no core is busy
// meanwhile.
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "tests/window/window_fixture.h"

namespace firn {
namespace {

TEST_F(RealWindow, APausedWindowSleepsUntilSomebodyDoesSomething) {
    for (bool asks : {false, true}) {
        ViewWindow window(executor, options("sleeps"));
        // Asked in every frame, and now and then while it sleeps.
        int looks = 0;
        // The deadline is by the wall's clock, like the checks during sleep.
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(4);
        window.close_when([&] { return ++looks, std::chrono::steady_clock::now() > end; });
        settle(window);
        if (asks) window.playing();
        by_hand("sleeps", "windowfocus \\$id key space");
        frames_until(window, [] { return false; });
        EXPECT_LT(looks, 70) << "4 seconds are 240 frames";
    }
}

TEST_F(RealWindow, SlidersReachAPausedProgramThatAsks) {
    float dt = 0.1f, seen = 0;
    ViewWindow window(executor, options("paused slider"));
    window.gui().slider("dt", dt, 0.0f, 0.5f);
    close_after(window, 20);
    settle(window);
    window.playing();
    Rectangle slider = window.gui().find("dt")->rectangle;
    by_hand("paused slider", "windowfocus \\$id key space; sleep 1; xdotool " +
                                 at(slider.x + slider.width * 0.8f, slider.y + 9) +
                                 "mousedown 1 sleep 0.5 mouseup 1");
    const int before = window.frame();
    int paused_at = -1;
    frames_until(window, [&] {
        if (!window.playing()) {
            if (paused_at < 0) paused_at = window.frame();
            seen = dt;
        }
        return seen > 0.3f;
    });
    EXPECT_NEAR(seen, 0.4f, 0.02f);
    EXPECT_GE(paused_at, before);
    EXPECT_LE(window.frame(), paused_at + 1) << "frames of a pause count";
}

TEST_F(RealWindow, PausingOneWindowLeavesTheOtherAlive) {
    ViewWindow first(executor, options("first paused")), second(executor, options("second alive"));
    float dt = 0.1f;
    close_after(first, 20);
    second.gui().slider("dt", dt, 0.0f, 0.5f);
    for (int frame = 0; frame < 5; ++frame) {
        ASSERT_TRUE(first.open() && second.open());
        first.show(gradient), second.show(gradient);
    }
    Rectangle slider = second.gui().find("dt")->rectangle;
    by_hand("first paused", "windowfocus \\$id key space");
    by_hand("second alive", "sleep 0.5 windowraise \\$id sleep 0.3 " +
                                at(slider.x + slider.width * 0.8f, slider.y + 9) +
                                "mousedown 1 sleep 0.3 mouseup 1 sleep 0.5 windowfocus \\$id key "
                                "Escape");
    Deadline deadline;
    while (!deadline.is_over() && first.open() && second.open())
        first.show(gradient), second.show(gradient);
    EXPECT_FALSE(deadline.is_over());
    EXPECT_NEAR(dt, 0.4f, 0.02f);
    drop_hand("Escape");
}

TEST_F(RealWindow, APausedWindowDoesNotHoldAnotherWhoseProgramAsks) {
    ViewWindow first(executor, options("first asks")), second(executor, options("second goes on"));
    first.playing(), second.playing();
    close_after(first, 20);
    by_hand("first asks", "sleep 0.3 windowfocus \\$id key space");
    int went_on = 0;
    Deadline deadline;
    while (went_on < 40 && !deadline.is_over() && first.open() && second.open()) {
        if (!first.playing() && second.playing()) ++went_on;
        first.show(gradient), second.show(gradient);
    }
    EXPECT_EQ(went_on, 40);
}

/// Sets the state as a window manager does. (The name of the property is that of its type, which
/// xprop cannot write.)
void set_state(const std::string& title, unsigned long state) {
    FILE* search = popen(("xdotool search --name '^" + title + "$'").c_str(), "r");
    unsigned long window = 0;
    ASSERT_EQ(fscanf(search, "%lu", &window), 1);
    pclose(search);
    void* x11 = dlopen("libX11.so.6", RTLD_NOW);
    ASSERT_TRUE(x11);
    const auto function = [&](auto type, const char* name) {
        return reinterpret_cast<decltype(type)>(dlsym(x11, name));
    };
    using Display = void*;
    using Atom = unsigned long;
    Display display = function((Display(*)(const char*)) nullptr, "XOpenDisplay")(nullptr);
    const Atom name = function((Atom(*)(Display, const char*, int)) nullptr, "XInternAtom")(
        display, "WM_STATE", 0);
    const unsigned long values[2] = {state, 0};
    function((int (*)(Display, Atom, Atom, Atom, int, int, const void*, int)) nullptr,
             "XChangeProperty")(display, window, name, name, 32, 0, values, 2);
    function((int (*)(Display)) nullptr, "XCloseDisplay")(display);
}
constexpr unsigned long kNormal = 1, kIconic = 3;

TEST_F(RealWindow, AMinimisedWindowWaitsWhereItIsToldTo) {
    ViewWindow window(executor,
                      {.title = "minimised", .size = {640, 320}, .runs_minimised = false});
    close_after(window, 20);
    settle(window);
    set_state("minimised", kIconic);
    const int before = window.frame();
    // 2.4 seconds are 144 frames.
    std::atomic<int> unseen{-1}, frames{before};
    std::thread hand([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2400));
        unseen = frames.load();
        set_state("minimised", kNormal);
    });
    EXPECT_TRUE(frames_until(window, [&] {
        frames = window.frame();
        return unseen >= 0 && window.frame() > unseen + 10;
    }));
    hand.join();
    EXPECT_LT(unseen - before, 20);
}

TEST_F(RealWindow, AMinimisedWindowGoesOn) {
    ViewWindow window(executor, {.title = "unseen", .size = {640, 320}});
    close_after(window, 20);
    settle(window);
    set_state("unseen", kIconic);
    const int before = window.frame();
    settle(window, 60);
    EXPECT_GE(window.frame(), before + 60);
}

}  // namespace
}  // namespace firn
