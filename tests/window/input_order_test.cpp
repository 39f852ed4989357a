// Events that come within one frame mean what they mean one by one.
#include <array>

#include "tests/window/panel_fixture.h"

namespace firn {
namespace {

constexpr auto kKey = InputEvent::Kind::Key, kCharacter = InputEvent::Kind::Character;

/// A panel beside an editor of several lines, which has the keyboard; no window, no device.
class InputOrder : public PanelFixture {
  protected:
    InputOrder() { settle(); }
    void draw_beside(float) override {
        ImGui::SetNextWindowPos({300, 0});
        ImGui::SetNextWindowSize({300, 300});
        ImGui::Begin("editor");
        if (frames++ == 0) ImGui::SetKeyboardFocusHere();
        ImGui::InputTextMultiline("##text", written.data(), written.size());
        place = ImGui::GetItemRectMin();
        ImGui::End();
    }
    std::string said() const { return written.data(); }

    std::array<char, 256> written{};
    ImVec2 place{};
    int frames = 0;
};

TEST_F(InputOrder, ReturnThenTextIsALineBelow) {
    ASSERT_TRUE(panel.wants_keys());
    frame(typed_events("ab") + key_events(Key::Enter) + typed_events("cd") +
          key_events(Key::Enter) + typed_events("e"));
    EXPECT_EQ(said(), "ab\ncd\ne");
}
TEST_F(InputOrder, KeysMoveBetweenCharacters) {
    frame(typed_events("bd") + key_events(Key::Left) + typed_events("c") + key_events(Key::Home) +
          typed_events("a") + key_events(Key::End) + typed_events("ef") +
          key_events(Key::Backspace) + key_events(Key::Left) + key_events(Key::Left) +
          key_events(Key::Delete));
    EXPECT_EQ(said(), "abce");
}
TEST_F(InputOrder, WhatControlGoesWithIsNoText) {
    frame(typed_events("wrong") + key_events(Key('A'), true) + typed_events("right"));
    EXPECT_EQ(said(), "right");
}
TEST_F(InputOrder, AKeyThatIsDownThroughALongFrameIsPressedOnce) {
    frame(typed_events("abc"));
    const Events left = key_events(Key::Left);
    frame({left[0]}, 2);
    frame({}, 2);
    frame({left[1]}, 2);
    frame(typed_events("x"));
    EXPECT_EQ(said(), "abxc");
}
TEST_F(InputOrder, AKeyRepeatsWhereTheSystemSaysSo) {
    frame(typed_events("abcd"));
    Events left = key_events(Key::Left);
    InputEvent again = left[0];
    again.repeats = true;
    frame({left[0], again, again, left[1]});
    frame(typed_events("x"));
    EXPECT_EQ(said(), "axbcd");
}
TEST_F(InputOrder, WhatAFieldHasIsNobodyElses) {
    // A click elsewhere takes the keyboard from it.
    frame(typed_events("a") + click_events(20, 310) + typed_events("b"));
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
    settle();
    const Rectangle at = gui.find("splash")->rectangle;
    const Events once = click_events(at.x + at.width / 2, at.y + at.height / 2);
    frame(once + once);
    EXPECT_TRUE(gui.button("splash"));
    EXPECT_TRUE(gui.button("splash"));
    EXPECT_FALSE(gui.button("splash"));
}
TEST_F(InputOrder, ADragWithinAFrameGoesAllTheWay) {
    float dt = 0;
    gui.parameter("dt", dt, {.min = 0, .max = 1});
    settle();
    const Rectangle at = gui.find("dt")->rectangle;
    Events drag = click_events(at.x + at.width * 0.2f, at.y + 9);
    InputEvent move = drag[0];
    move.x = drag[2].x = at.x + at.width * 0.8f;
    drag.insert(drag.end() - 1, move);
    frame(drag);
    EXPECT_NEAR(dt, 0.8f, 0.03f);
    // Shift, which is pressed during the drag, makes the change so much smaller.
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
TEST_F(InputOrder, TheHalvesOfADoubleClickMayComeInTwoSlowFrames) {
    frame(typed_events("wrong"));
    const Events once = click_events(place.x + 12, place.y + 10);
    frame(once, 0.7f);
    frame(once, 0.7f);  // it may have followed at once
    frame(typed_events("right"));
    EXPECT_EQ(said(), "right") << "a double click selects a word";
    frame(once, 0.7f);
    frame({}, 0.7f);
    frame(once, 0.7f);  // it came more than 0.7 s later
    frame(typed_events("x"));
    EXPECT_EQ(said().size(), 6u) << said();
}
TEST(RawInput, HasRoomForOnePressOfAButtonOrKey) {
    RawInput input;
    const Events once = click_events(1, 2), a = key_events(Key('A')),
                 shift = key_events(Key::Shift);
    for (const InputEvent& event : once + a + shift) {
        EXPECT_TRUE(input.has_room_for(event));
        input.add(event);
    }
    EXPECT_FALSE(input.has_room_for(once[1]));
    EXPECT_FALSE(input.has_room_for(a[0]));
    EXPECT_TRUE(input.has_room_for(click_events(1, 2, 1)[1]));
    EXPECT_TRUE(input.has_room_for(key_events(Key('B'))[0]));
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
