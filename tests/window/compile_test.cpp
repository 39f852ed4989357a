// A window answers while kernels compile.
#include <atomic>
#include <chrono>
#include <thread>

#include "compiler/base/long_work.h"
#include "compiler/base/parallel.h"
#include "compiler/language.h"
#include "compiler/learning/progress.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

class CompilingWindow : public RealWindow {
  protected:
    /// A compile that takes until `done`; asked by the thread that waits for it.
    void compile_until(const std::function<bool()>& done) {
        std::atomic<bool> ended{false};
        for_each_in_parallel(
            1,
            [&](size_t) {
                for (Deadline deadline; !ended && !deadline.is_over();)
                    std::this_thread::sleep_for(std::chrono::milliseconds(5));
            },
            [&](size_t) {
                executor->compile_watch()({"slow", 0, 1});
                ended = done();
            });
    }
    /// Records two functions in an order that no cache has seen. Numbers alone would not do: a lazy
    /// program takes them as arguments. Drivers compile both quickly; there are many.
    static Tensor long_program() {
        const auto now = std::chrono::system_clock::now().time_since_epoch().count();
        Tensor x = reshape(arange(1000), {1000}).as(f32);
        for (int k = 0; k < 1000; ++k) {
            const Tensor next = x * 1.1f + static_cast<float>(k);
            x = now >> k % 32 & 1 ? sqrt(next) : floor(next);
        }
        return x;
    }
    static bool is_on_screen(const std::string& title) {
        return std::system(
                   ("xdotool search --onlyvisible --name '^" + title + "$' > /dev/null").c_str()) ==
               0;
    }
};

TEST_F(CompilingWindow, TakesAClickOnThePanel) {
    ViewWindow window(executor, options("compiling click"));
    window.gui().button("splash");
    settle(window);
    const Rectangle button = window.gui().find("splash")->rectangle;
    by_hand("compiling click",
            at(button.x + button.width / 2, button.y + 9) + "mousedown 1 sleep 0.2 mouseup 1");
    bool pressed = false;
    compile_until([&] { return pressed = pressed || window.gui().button("splash"); });
    EXPECT_TRUE(pressed);
}

TEST_F(CompilingWindow, LeavesTheScreenAtOnceWhereItIsClosed) {
    ViewWindow window(executor, options("compiling escape"));
    settle(window);
    ASSERT_TRUE(is_on_screen("compiling escape"));
    by_hand("compiling escape", "windowfocus \\$id key Escape");
    bool gone = false;
    compile_until([&] { return gone = !is_on_screen("compiling escape"); });
    EXPECT_TRUE(gone);
    EXPECT_FALSE(window.open());
}

TEST_F(CompilingWindow, KeysOfTheProgramComeToTheNextFrames) {
    ViewWindow window(executor, options("compiling keys"));
    settle(window);
    by_hand("compiling keys", "windowfocus \\$id key w key w key x");
    int served = 0;
    compile_until([&] { return hand_is_done() && ++served > 3; });
    std::string pressed;
    for (int frame = 0; frame < 5 && window.open(); ++frame) {
        for (const char key : {'W', 'X'})
            if (window.key_pressed(key)) pressed += key;
        window.show(gradient);
    }
    EXPECT_EQ(pressed, "WWX");
}

TEST_F(CompilingWindow, TheMouseOfTheProgramComesToTheNextFrame) {
    ViewWindow window(executor, options("compiling mouse"));
    settle(window);
    const float at_i = window.mouse().i, at_j = window.mouse().j;
    // A stroke from column 50 to 60, and further without the button; the picture has 80 columns.
    by_hand("compiling mouse",
            "windowfocus \\$id " + at(320, 120) + at(400, 160) +
                "sleep 0.1 mousedown 1 sleep 0.1 " + at(440, 160) + "sleep 0.1 " + at(480, 160) +
                "sleep 0.1 mouseup 1 sleep 0.1 click 4 sleep 0.1 " + at(600, 40));
    int served = 0;
    compile_until([&] { return hand_is_done() && ++served > 3; });
    EXPECT_EQ(window.mouse().i, at_i) << "the frame keeps the mouse with which it began";
    EXPECT_EQ(window.mouse().j, at_j);
    window.show(gradient);
    ASSERT_TRUE(window.open());
    const Mouse stroke = window.mouse();
    EXPECT_TRUE(stroke.left.down && stroke.left.pressed && stroke.left.released);
    EXPECT_NEAR(stroke.j - stroke.dj, 50, 0.2);
    EXPECT_NEAR(stroke.j, 60, 0.2);
    EXPECT_NEAR(stroke.i, 20, 0.2);
    EXPECT_NEAR(stroke.di, 0, 0.2);
    EXPECT_EQ(stroke.wheel, 1);
    window.show(gradient);
    ASSERT_TRUE(window.open());
    const Mouse after = window.mouse();
    EXPECT_FALSE(after.left.down || after.left.pressed || after.left.released);
    EXPECT_EQ(after.wheel, 0);
}

TEST_F(CompilingWindow, AsksWhereWorkIsNotSavedAndSavesBehindTheCompile) {
    int saved = 0;
    for (const char* answer : {"Return", "e"}) {
        ViewWindow window(executor, {.title = "compiling asks", .size = {640, 320}});
        settle(window);
        window.unsaved("3 strokes", [&] { ++saved; });
        by_hand("compiling asks", "windowfocus \\$id key Escape");
        compile_until([&] { return window.ending() == WindowEnd::Asks; });
        EXPECT_EQ(window.ending(), WindowEnd::Asks);
        by_hand("compiling asks", std::string("key ") + answer);
        const bool saves = answer == std::string("Return");
        compile_until(
            [&] { return saves ? hand_is_done() : window.ending() == WindowEnd::Closed; });
        EXPECT_EQ(saved, saves ? 0 : 1) << "not within a compile";
        EXPECT_FALSE(frames_until(window, [] { return false; }));
        EXPECT_EQ(window.ending(), WindowEnd::Closed);
        EXPECT_EQ(saved, 1);
    }
}

TEST_F(CompilingWindow, IsToldOfEachCompileThatACallWaitsFor) {
    ViewWindow window(executor, options("told"));
    const CompileWatch serve = executor->compile_watch();
    ASSERT_TRUE(serve);
    int in_passes = 0, in_kernels = 0;
    executor->on_compile([&](const CompileProgress& progress) {
        ++(progress.kernels > 0 ? in_kernels : in_passes);
        serve(progress);
    });
    const Session session{SharedPtr<Executor>(std::shared_ptr<Executor>(executor))};
    const SessionScope scope(session);
    EXPECT_EQ(long_program().to_vector<float>().size(), 1000u);
    EXPECT_GT(in_passes, 0);
    EXPECT_GT(in_kernels, 0);
}

TEST_F(CompilingWindow, EndsTheCompileWhereItIsClosedAndSomebodyCatchesThat) {
    ViewWindow window(executor, options("ended"));
    settle(window);
    const Session session{SharedPtr<Executor>(std::shared_ptr<Executor>(executor))};
    const SessionScope scope(session);
    const CancelScope cancels;
    by_hand("ended", "windowfocus \\$id key Escape");
    Deadline deadline;
    EXPECT_THROW(while (!deadline.is_over()) long_program().to_vector<float>(), Cancelled);
    EXPECT_FALSE(window.open());
    // A compile that was ended can be requested again.
    EXPECT_EQ((ones({4}) + 1.0f).to_vector<float>(), std::vector<float>(4, 2.0f));
}

TEST_F(CompilingWindow, OneThatIsNotSeenWatchesWhereNobodyElseDoes) {
    const WindowOptions unseen{.headless = true};
    {
        ViewWindow first(executor, unseen);
        EXPECT_TRUE(executor->compile_watch());
        EXPECT_TRUE(is_work_watched());
        first.close_when([] { return true; });
        const CancelScope cancels;
        { ViewWindow second(executor, unseen); }
        EXPECT_THROW(executor->compile_watch()({"f", 1, 2}), Cancelled);
        EXPECT_FALSE(tell_work({"work", 0.5}));
        EXPECT_FALSE(first.open());
    }
    EXPECT_FALSE(executor->compile_watch());
    EXPECT_FALSE(is_work_watched());
    int told = 0;
    executor->on_compile([&](const CompileProgress&) { ++told; });
    { ViewWindow third(executor, unseen); }
    executor->compile_watch()({"f", 1, 2});
    EXPECT_EQ(told, 1);
    executor->on_compile({});
}

TEST_F(CompilingWindow, WorkBehindTheLastFrameGoesOn) {
    ViewWindow window(executor, {.headless = true, .frames = 1});
    const CancelScope cancels;
    while (window.open()) {
    }
    EXPECT_NO_THROW(executor->compile_watch()({"f", 1, 2}));
    EXPECT_TRUE(tell_work({"saving", 0.5}));
}

TEST_F(CompilingWindow, WorkBehindTheLastFrameEndsWhereThatIsAskedForAnew) {
    bool interrupted = false;
    ViewWindow window(executor, {.headless = true, .frames = 1});
    window.close_when([&] { return interrupted; });
    const CancelScope cancels;
    while (window.open()) {
    }
    EXPECT_FALSE(window.asks_to_end());
    interrupted = true;
    EXPECT_TRUE(window.asks_to_end());
    EXPECT_FALSE(tell_work({"saving", 0.5}));
    EXPECT_FALSE(window.open());  // the program knows now
    EXPECT_FALSE(window.asks_to_end());
    EXPECT_TRUE(tell_work({"saving", 0.5}));
}

/// Work that is no frame of the program: told from the thread that does it.
class WorkingWindow : public RealWindow {
  protected:
    void work_until(const std::function<bool()>& done) {
        Deadline deadline;
        for (int step = 0; !done() && !deadline.is_over(); ++step) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            goes_on_ = tell_work({"step " + std::to_string(step), 0.5});
        }
    }
    bool goes_on_ = true;
};

TEST_F(WorkingWindow, TakesAClickOnThePanel) {
    ViewWindow window(executor, options("working click"));
    window.gui().button("splash");
    settle(window);
    const Rectangle button = window.gui().find("splash")->rectangle;
    by_hand("working click",
            at(button.x + button.width / 2, button.y + 9) + "mousedown 1 sleep 0.3 mouseup 1");
    bool pressed = false;
    work_until([&] { return pressed = pressed || window.gui().button("splash"); });
    EXPECT_TRUE(pressed);
}
TEST_F(WorkingWindow, TellsTheWorkThatItWasClosed) {
    ViewWindow window(executor, options("working escape"));
    settle(window);
    by_hand("working escape", "windowfocus \\$id key Escape");
    work_until([&] { return !goes_on_; });
    EXPECT_FALSE(goes_on_);
    EXPECT_FALSE(window.open());
}
TEST_F(WorkingWindow, ShowsHowFarALearningRunIs) {
    WindowOptions wanted = options("learning");
    wanted.gui_in_pictures = true;
    ViewWindow window(executor, wanted);
    settle(window);
    const std::vector<uint8_t> before = window.picture().rgba;
    Progress progress(100);
    progress.show(30, {{"loss", 0.25}});
    EXPECT_NE(window.picture().rgba, before);
    window.save(testing::TempDir() + "learning.png");  // for people
}

}  // namespace
}  // namespace firn
