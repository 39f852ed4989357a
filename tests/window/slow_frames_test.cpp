// A mouse that is faster than the frames: every click counts where and when it was.
#include <thread>

#include "tests/window/drawing_fixture.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

class SlowFrames : public RealWindow {
  protected:
    /// Frames of 0.7 s until `done`.
    void slow_frames(ViewWindow& window, const std::function<bool()>& done) {
        for (Deadline deadline; !deadline.is_over() && !done() && window.open();) {
            std::this_thread::sleep_for(std::chrono::milliseconds(700));
            window.show(gradient);
        }
    }
    /// A click whose mouse comes from the picture and goes back there within a frame.
    static std::string click_from_afar(const Rectangle& to) {
        return at(400, 250) + "sleep 1.5 " + at(to.x + to.width / 2, to.y + to.height / 2) +
               "mousedown 1 mouseup 1 " + at(400, 250);
    }
};

TEST_F(SlowFrames, APressOnThePanelIsThePanelsAlone) {
    float dt = 0.1f;
    ViewWindow window(executor, options("slow press"));
    window.gui().slider("dt", dt, 0.0f, 0.5f);
    settle(window);
    Rectangle slider = window.gui().find("dt")->rectangle;
    by_hand("slow press", at(400, 250) + "sleep 1.5 " +
                              at(slider.x + slider.width * 0.8f, slider.y + 9) +
                              "mousedown 1 sleep 2 mouseup 1");
    bool reached = false;
    slow_frames(window, [&] {
        const Mouse& mouse = window.mouse();
        reached = reached || mouse.left.down || mouse.left.pressed || mouse.left.released;
        return dt > 0.3f;
    });
    EXPECT_NEAR(dt, 0.4f, 0.02f);
    EXPECT_FALSE(reached);
}

TEST_F(SlowFrames, AClickOnThePanelCountsThoughTheMouseIsElsewhereByThen) {
    ViewWindow window(executor, options("slow click"));
    window.gui().button("splash");
    settle(window);
    by_hand("slow click", click_from_afar(window.gui().find("splash")->rectangle));
    int presses = 0;
    bool reached = false;
    slow_frames(window, [&] {
        reached = reached || window.mouse().left.down || window.mouse().left.released;
        return (presses += window.gui().button("splash")) > 0;
    });
    EXPECT_EQ(presses, 1);
    EXPECT_FALSE(reached);
}

TEST_F(SlowFrames, TheWheelWithControlComesNearerAndIsUndoneWithinAFrame) {
    ViewWindow window(executor, options("slow wheel"));
    settle(window);
    const auto middle = [&] { return pixel_of(window.picture(), 400, 160)[0]; };
    const int before = middle();
    const std::string wheel = "keydown ctrl click 4 click 4 click 4 click 4 keyup ctrl ";
    by_hand("slow wheel", "windowfocus \\$id sleep 0.1 " + at(620, 160) + wheel);
    await_hand();
    settle(window, 2);
    const int nearer = middle();
    EXPECT_GT(nearer, before + 20);
    EXPECT_EQ(window.mouse().wheel, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // what follows is another move
    settle(window, 1);
    by_hand("slow wheel", wheel + "key ctrl+z");
    await_hand();
    settle(window, 2);
    EXPECT_EQ(middle(), nearer);
}

/// All of it within one frame, however fast the machine is: the frame lasts until the hand is done.
class OneFrame : public RealWindow {
  protected:
    static void within_a_frame(const std::string& title, const std::string& commands) {
        by_hand(title, "windowfocus --sync \\$id " + commands);
        await_hand();
    }
    static std::string click_on(const Rectangle& to) {
        return at(to.x + to.width / 2, to.y + to.height / 2) + "click 1 ";
    }
};

TEST_F(OneFrame, ANumberIsTypedIntoASliderAndTaken) {
    float dt = 0.25f;
    ViewWindow window(executor, options("typed"));
    window.gui().parameter("dt", dt, {.min = 0, .max = 20, .soft_max = 1});
    window.playing();
    settle(window);
    bool paused = false, seen = false;
    within_a_frame("typed", "keydown ctrl " + click_on(window.gui().find("dt")->rectangle) +
                                "keyup ctrl key ctrl+a type 12.5; xdotool key Return key space");
    EXPECT_TRUE(frames_until(window, [&] {
        seen = seen || window.key_pressed('1') || window.key_pressed(Key::Enter);
        return paused = paused || !window.playing();
    }));
    EXPECT_EQ(dt, 12.5f);
    EXPECT_FALSE(seen) << "the field's keys are not the program's";
}

TEST_F(OneFrame, AStrokeGoesFromItsPressToItsEnd) {
    ViewWindow window(executor, options("slow stroke"));
    settle(window);
    // 8 pixels an element.
    within_a_frame("slow stroke",
                   at(400, 200) + "mousedown 1 " + at(480, 240) + "mouseup 1 " + at(600, 40));
    Mouse stroke;
    EXPECT_TRUE(frames_until(window, [&] {
        if (window.mouse().left.pressed) stroke = window.mouse();
        return stroke.left.pressed;
    }));
    EXPECT_TRUE(stroke.left.down && stroke.left.released);
    EXPECT_NEAR(stroke.i, 30, 0.2);
    EXPECT_NEAR(stroke.j, 60, 0.2);
    EXPECT_NEAR(stroke.di, 5, 0.2);
    EXPECT_NEAR(stroke.dj, 10, 0.2);
}

TEST_F(OneFrame, ADoubleClickIsTwoStrokesOfTheProgram) {
    ViewWindow window(executor, options("twice"));
    settle(window);
    within_a_frame("twice", at(400, 200) + "click 1 click 1 " + at(480, 240) + "click 1");
    std::vector<float> columns;
    frames_until(window, [&] {
        const Mouse& mouse = window.mouse();
        EXPECT_EQ(mouse.left.pressed, mouse.left.released);
        if (mouse.left.pressed && columns.size() < 3) columns.push_back(mouse.j);
        return columns.size() == 3;
    });
    ASSERT_EQ(columns.size(), 3u);
    EXPECT_NEAR(columns[0], 50, 0.2);
    EXPECT_NEAR(columns[1], 50, 0.2);
    EXPECT_NEAR(columns[2], 60, 0.2);
    settle(window);
    EXPECT_FALSE(window.mouse().left.down);
}

TEST_F(OneFrame, AKeyThatIsPressedThreeTimesIsSeenThreeTimes) {
    ViewWindow window(executor, options("thrice"));
    settle(window);
    within_a_frame("thrice", "key a key a key a key Escape");
    int presses = 0;
    frames_until(window, [&] { return presses += window.key_pressed('A'), false; });
    EXPECT_EQ(presses, 3);
    EXPECT_FALSE(window.open()) << "Escape came last";
}

TEST_F(OneFrame, EachOfTwoStepsIsAFrame) {
    ViewWindow window(executor, options("steps"));
    settle(window);
    window.playing();
    within_a_frame("steps", "key space key n key n");
    int frames = 0;
    for (int k = 0; k < 20 && window.open(); ++k) {
        frames += window.playing();
        window.show(gradient);
        if (!window.playing() && frames == 2) break;
    }
    EXPECT_EQ(frames, 2);
}

}  // namespace
}  // namespace firn
