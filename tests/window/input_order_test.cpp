// Events that come within one frame mean what they mean one by one.
#include <gtest/gtest.h>
#include <imgui.h>

#include <array>
#include <string>
#include <vector>

#include "engine/window/gui_panel.h"
#include "engine/window/widgets.h"

namespace firn {
namespace {

using Events = std::vector<InputEvent>;
constexpr auto kKey = InputEvent::Kind::Key, kCharacter = InputEvent::Kind::Character;

Events operator+(Events first, const Events& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}
Events key(Key code, bool control = false) {
    return {{.kind = kKey, .code = int(code), .down = true, .control = control, .plain = !control},
            {.kind = kKey, .code = int(code), .control = control, .plain = !control}};
}
/// Each character with its key.
Events typed(const std::string& text) {
    Events out;
    for (char c : text) {
        const int code = std::toupper(c);
        out.push_back({.kind = kKey, .code = code, .down = true});
        out.push_back({.kind = kCharacter, .code = c});
        out.push_back({.kind = kKey, .code = code});
    }
    return out;
}
Events click(float x, float y, int button = 0) {
    const auto kind = InputEvent::Kind::Button;
    return {{.x = x, .y = y},
            {.kind = kind, .code = button, .down = true, .x = x, .y = y},
            {.kind = kind, .code = button, .x = x, .y = y}};
}

/// A panel beside an editor of several lines, which has the keyboard; no window, no device.
class InputOrder : public testing::Test {
  protected:
    InputOrder() {
        panel.atlas();
        panel.draw_beside([this](float, PanelActions&) {
            ImGui::SetNextWindowPos({300, 0});
            ImGui::SetNextWindowSize({300, 300});
            ImGui::Begin("editor");
            if (frames++ == 0) ImGui::SetKeyboardFocusHere();
            ImGui::InputTextMultiline("##text", text.data(), text.size());
            place = ImGui::GetItemRectMin();
            ImGui::End();
        });
        for (int settle = 0; settle < 4; ++settle) frame({});
    }
    /// One frame of the program, of so many seconds, with all that the person did in it.
    void frame(const Events& events, float seconds = 0.01f) {
        PanelState state;
        state.seconds = seconds;
        PanelActions actions;
        input.begin_frame();
        panel.begin_input(gui, state, 640, 320, actions);
        for (InputEvent event : events) {
            panel.take(gui, event, state, actions);
            input.add(event);
        }
        panel.end_input(gui, input, state, actions);
        panel.draw(gui, state, actions);
    }
    std::string said() const { return text.data(); }

    Gui gui;
    GuiPanel panel{1, false, nullptr};
    RawInput input;
    std::array<char, 256> text{};
    ImVec2 place{};
    int frames = 0;
};

TEST_F(InputOrder, ReturnThenTextIsALineBelow) {
    ASSERT_TRUE(panel.wants_keys());
    frame(typed("ab") + key(Key::Enter) + typed("cd") + key(Key::Enter) + typed("e"));
    EXPECT_EQ(said(), "ab\ncd\ne");
}
TEST_F(InputOrder, KeysMoveBetweenCharacters) {
    frame(typed("bd") + key(Key::Left) + typed("c") + key(Key::Home) + typed("a") + key(Key::End) +
          typed("ef") + key(Key::Backspace) + key(Key::Left) + key(Key::Left) + key(Key::Delete));
    EXPECT_EQ(said(), "abce");
}
TEST_F(InputOrder, WhatControlGoesWithIsNoText) {
    frame(typed("wrong") + key(Key('A'), true) + typed("right"));
    EXPECT_EQ(said(), "right");
}
TEST_F(InputOrder, AKeyThatIsDownThroughALongFrameIsPressedOnce) {
    frame(typed("abc"));
    const Events left = key(Key::Left);
    frame({left[0]}, 2);
    frame({}, 2);
    frame({left[1]}, 2);
    frame(typed("x"));
    EXPECT_EQ(said(), "abxc");
}
TEST_F(InputOrder, AKeyRepeatsWhereTheSystemSaysSo) {
    frame(typed("abcd"));
    Events left = key(Key::Left);
    InputEvent again = left[0];
    again.repeats = true;
    frame({left[0], again, again, left[1]});
    frame(typed("x"));
    EXPECT_EQ(said(), "axbcd");
}
TEST_F(InputOrder, WhatAFieldHasIsNobodyElses) {
    // A click elsewhere takes the keyboard from it.
    frame(typed("a") + click(20, 310) + typed("b"));
    EXPECT_EQ(said(), "a");
    std::string field, other;
    for (const InputEvent& event : input.events)
        if (event.kind == kCharacter)
            (event.on_panel ? field : other) += static_cast<char>(event.code);
    EXPECT_EQ(field, "a");
    EXPECT_EQ(other, "b");
}
TEST_F(InputOrder, TwoClicksOnAButtonAreTwo) {
    gui.button("splash");
    for (int settle = 0; settle < 3; ++settle) frame({});
    const Rectangle at = gui.find("splash")->rectangle;
    const Events once = click(at.x + at.width / 2, at.y + at.height / 2);
    frame(once + once);
    EXPECT_TRUE(gui.button("splash"));
    EXPECT_TRUE(gui.button("splash"));
    EXPECT_FALSE(gui.button("splash"));
}
TEST_F(InputOrder, ADragWithinAFrameGoesAllTheWay) {
    float dt = 0;
    gui.parameter("dt", dt, {.min = 0, .max = 1});
    for (int settle = 0; settle < 3; ++settle) frame({});
    const Rectangle at = gui.find("dt")->rectangle;
    Events drag = click(at.x + at.width * 0.2f, at.y + 9);
    InputEvent move = drag[0];
    move.x = drag[2].x = at.x + at.width * 0.8f;
    drag.insert(drag.end() - 1, move);
    frame(drag);
    EXPECT_NEAR(dt, 0.8f, 0.03f);
    // By Shift, which is pressed on the way, so much less.
    std::swap(drag[0].x, drag[2].x);
    drag[1].x = drag[0].x, drag[3].x = drag[2].x;
    const InputEvent shift{.kind = kKey,
                           .code = int(Key::Shift),
                           .down = true,
                           .shift = true,
                           .x = drag[1].x,
                           .y = drag[1].y};
    drag[2].shift = drag[3].shift = true;
    drag.insert(drag.begin() + 2, shift);
    const float before = dt;
    frame(drag);
    EXPECT_NEAR(dt, before - 0.06f, 0.02f);
}
TEST(RawInput, HasRoomForOnePressOfAButtonOrKey) {
    RawInput input;
    const Events once = click(1, 2), a = key(Key('A')), shift = key(Key::Shift);
    for (const InputEvent& event : once + a + shift) {
        EXPECT_TRUE(input.has_room_for(event));
        input.add(event);
    }
    EXPECT_FALSE(input.has_room_for(once[1]));
    EXPECT_FALSE(input.has_room_for(a[0]));
    EXPECT_TRUE(input.has_room_for(click(1, 2, 1)[1]));
    EXPECT_TRUE(input.has_room_for(key(Key('B'))[0]));
    EXPECT_TRUE(input.has_room_for(shift[0])) << "the others say whether it was held";
    InputEvent on_panel = once[1];
    on_panel.on_panel = true;
    EXPECT_TRUE(input.has_room_for(on_panel));
    input.begin_frame();
    EXPECT_TRUE(input.has_room_for(once[1]));
    // One that goes up in a frame is heard of before it goes down again.
    input.add(once[2]);
    EXPECT_FALSE(input.has_room_for(once[1]));
}

}  // namespace
}  // namespace firn
