// The end of a window: Escape closes what is open first, and the window asks if work would be lost.
#include <cstdio>

#include "compiler/base/error.h"
#include "tests/window/window_fixture.h"

namespace firn {
namespace {

int red_of(const Picture& picture, int x, int y) {
    return picture.rgba[4 * static_cast<size_t>(y * picture.width + x)];
}

class Ending : public RealWindow {
  protected:
    static WindowOptions uncounted(const std::string& title) {
        WindowOptions wanted{.title = title, .size = {640, 320}};
        wanted.print_widgets = true;
        return wanted;
    }
    static std::string middle_of(const Rectangle& to) {
        return at(to.x + to.width / 2, to.y + to.height / 2);
    }
    static void press(const std::string& title, const std::string& keys) {
        by_hand(title, "windowfocus \\$id sleep 0.1 key " + keys);
    }
    /// Presses the close button, and gives what the window says of its parts until it has asked.
    std::string ask(ViewWindow& window, const std::string& title) {
        testing::internal::CaptureStdout();
        const bool pressed = press_close_button(title), asked = becomes(window, WindowEnd::Asks);
        settle(window);
        const std::string said = testing::internal::GetCapturedStdout();
        EXPECT_TRUE(pressed);
        EXPECT_TRUE(asked);
        return said;
    }
    /// Returns the place of a part of the window, as it was last printed.
    static Rectangle place(const std::string& said, const std::string& name) {
        const size_t begin = said.rfind("widget " + name + " ");
        EXPECT_NE(begin, std::string::npos) << name << " is not in " << said;
        Rectangle out;
        if (begin != std::string::npos)
            std::sscanf(said.c_str() + begin + name.size() + 8, "%f %f %f %f", &out.x, &out.y,
                        &out.width, &out.height);
        return out;
    }
    /// The mouse over the picture reaches it: no menu, list or picker is open.
    bool reaches(ViewWindow& window, bool reached) {
        return frames_until(window, [&] { return window.mouse().inside == reached; });
    }
    bool becomes(ViewWindow& window, WindowEnd end) {
        return frames_until(window, [&] { return window.ending() == end; });
    }
    const std::string picture = at(620, 300);
};

TEST_F(Ending, EscapeClosesAMenuAListAndAPickerBeforeTheWindow) {
    ViewWindow window(executor, uncounted("open"));
    float dt = 0.1f, colour[3] = {0.1f, 0.2f, 0.3f};
    int choice = 0;
    window.gui().parameter("dt", dt, {.min = 0, .max = 1});
    window.gui().parameter("choice", choice, {"one", "two"});
    window.gui().bind("colour", {ParamVariable::Kind::Colour, colour, 3}, {});
    settle(window);
    const auto widget = [&](const char* name) { return window.gui().find(name)->rectangle; };
    const Rectangle square = widget("colour");
    const std::string acts[] = {picture + "click 3 ", middle_of(widget("choice")) + "click 1 ",
                                middle_of(widget("dt")) + "click 3 ",
                                at(square.x + square.width - 9, square.y + 9) + "click 1 "};
    for (const std::string& act : acts) {
        by_hand("open", "windowfocus \\$id " + picture);
        ASSERT_TRUE(reaches(window, true)) << act;
        by_hand("open", act + "sleep 0.1 " + picture);
        ASSERT_TRUE(reaches(window, false)) << act;
        press("open", "Escape");
        ASSERT_TRUE(reaches(window, true)) << act;
        EXPECT_EQ(window.ending(), WindowEnd::Open) << act;
    }
    // The sheet of keys, the messages, the inspector, then the program.
    press("open", "F1 key F2 key F3 key Escape key Escape key Escape");
    await_hand();
    settle(window, 5);
    EXPECT_EQ(window.ending(), WindowEnd::Open);
    press("open", "Escape");
    EXPECT_TRUE(becomes(window, WindowEnd::Closed));
}
TEST_F(Ending, EscapeDropsWhatIsTypedBeforeTheWindow) {
    ViewWindow window(executor, uncounted("typed text"));
    std::string text = "before";
    window.gui().parameter("text", text);
    settle(window);
    by_hand("typed text", "windowfocus \\$id " + middle_of(window.gui().find("text")->rectangle) +
                              "click 1 sleep 0.1 type after");
    EXPECT_TRUE(frames_until(window, [&] { return text == "after"; })) << text;
    press("typed text", "Escape");
    EXPECT_TRUE(frames_until(window, [&] { return text == "before"; })) << text;
    settle(window);
    EXPECT_EQ(window.ending(), WindowEnd::Open);
    press("typed text", "Escape");
    EXPECT_TRUE(becomes(window, WindowEnd::Closed));
}
TEST_F(Ending, AsksByKeysWhereWorkIsNotSaved) {
    WindowOptions wanted = uncounted("keys ask");
    wanted.gui_in_pictures = true;
    ViewWindow window(executor, wanted);
    int saved = 0;
    settle(window);
    const int before = red_of(window.picture(), 600, 20);
    window.unsaved("3 strokes", [&] { ++saved; });
    press("keys ask", "Escape");
    EXPECT_TRUE(becomes(window, WindowEnd::Asks));
    // The content behind the question is dark meanwhile.
    EXPECT_TRUE(
        frames_until(window, [&] { return red_of(window.picture(), 600, 20) < before - 20; }));
    press("keys ask", "Escape");
    EXPECT_TRUE(becomes(window, WindowEnd::Open));
    EXPECT_TRUE(window.open());
    press("keys ask", "Escape key Return");  // within a frame or two
    EXPECT_TRUE(becomes(window, WindowEnd::Closed));
    EXPECT_FALSE(window.open());
    EXPECT_EQ(saved, 1);
}
TEST_F(Ending, AsksByTheMouseWhereWorkIsNotSaved) {
    for (bool saves : {true, false}) {
        ViewWindow window(executor, uncounted("mouse asks"));
        int saved = 0;
        settle(window);
        window.unsaved("3 strokes", [&] { ++saved; });
        const std::string said = ask(window, "mouse asks");
        by_hand("mouse asks", middle_of(place(said, "question stay")) + "sleep 0.1 click 1");
        EXPECT_TRUE(becomes(window, WindowEnd::Open));
        settle(window);
        EXPECT_FALSE(window.mouse().left.down);
        const char* answer = saves ? "question save" : "question end";
        by_hand("mouse asks",
                middle_of(place(ask(window, "mouse asks"), answer)) + "sleep 0.1 click 1");
        EXPECT_TRUE(becomes(window, WindowEnd::Closed));
        EXPECT_FALSE(window.open());
        EXPECT_EQ(saved, saves);
    }
}
TEST_F(Ending, TheCloseButtonEndsItWhereItWasPressedTwice) {
    ViewWindow window(executor, uncounted("close twice"));
    settle(window);
    window.unsaved("3 strokes");
    EXPECT_TRUE(press_close_button("close twice"));
    EXPECT_TRUE(becomes(window, WindowEnd::Asks));
    press("close twice", "Return");  // nothing can be saved: no answer
    await_hand();
    settle(window);
    EXPECT_EQ(window.ending(), WindowEnd::Asks);
    EXPECT_TRUE(press_close_button("close twice"));
    EXPECT_TRUE(becomes(window, WindowEnd::Closed));
}
TEST_F(Ending, GoesOnWhereItCannotBeSaved) {
    ViewWindow window(executor, uncounted("full"));
    settle(window);
    int tries = 0;
    window.unsaved("3 strokes", [&] {
        ++tries;
        throw UserError("the disk is full");
    });
    press("full", "Escape key Return");
    EXPECT_TRUE(frames_until(window, [&] { return tries == 1; }));
    EXPECT_TRUE(becomes(window, WindowEnd::Open));
    press("full", "Escape key e");
    EXPECT_TRUE(becomes(window, WindowEnd::Closed));
    EXPECT_EQ(tries, 1);
}
TEST_F(Ending, AsksWhileItIsPausedAndItsPanelIsHidden) {
    ViewWindow window(executor, uncounted("paused asks"));
    settle(window);
    window.playing();
    window.unsaved("3 strokes");
    press("paused asks", "h key space key Escape");
    EXPECT_TRUE(becomes(window, WindowEnd::Asks));
    EXPECT_TRUE(window.shows_panel()) << "which asks";
    press("paused asks", "Escape");
    EXPECT_TRUE(becomes(window, WindowEnd::Open));
    EXPECT_FALSE(window.shows_panel());
    window.unsaved("");
    press("paused asks", "Escape");
    EXPECT_TRUE(becomes(window, WindowEnd::Closed));
}
TEST_F(Ending, AsksNobodyWhereFramesAreCounted) {
    ViewWindow window(executor, options("counted"));
    settle(window);
    window.unsaved("3 strokes");
    EXPECT_FALSE(window.would_ask());
    press("counted", "Escape");
    EXPECT_TRUE(becomes(window, WindowEnd::Closed));
    ViewWindow headless(executor, {.headless = true});
    headless.unsaved("3 strokes");
    EXPECT_FALSE(headless.would_ask());
    headless.request_end();
    EXPECT_EQ(headless.ending(), WindowEnd::Closed);
}

}  // namespace
}  // namespace firn
