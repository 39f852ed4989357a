// A panel without a window and a device: frames with all that a person did in them.
#pragma once
#include <gtest/gtest.h>
#include <imgui.h>

#include <cctype>
#include <string>
#include <vector>

#include "engine/window/gui_panel.h"
#include "engine/window/widgets.h"
#include "tests/window/drawn_text.h"

namespace firn {

using Events = std::vector<InputEvent>;

inline Events operator+(Events first, const Events& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}
inline Events key_events(Key code, bool control = false) {
    const auto kind = InputEvent::Kind::Key;
    return {{.kind = kind, .code = int(code), .down = true, .control = control, .plain = !control},
            {.kind = kind, .code = int(code), .control = control, .plain = !control}};
}
/// Each character with its key.
inline Events typed_events(const std::string& text) {
    Events out;
    for (char c : text) {
        const int code = std::toupper(c);
        out.push_back({.kind = InputEvent::Kind::Key, .code = code, .down = true});
        out.push_back({.kind = InputEvent::Kind::Character, .code = c});
        out.push_back({.kind = InputEvent::Kind::Key, .code = code});
    }
    return out;
}
inline Events move_events(float x, float y) { return {{.x = x, .y = y}}; }
inline Events click_events(float x, float y, int button = 0) {
    const auto kind = InputEvent::Kind::Button;
    return {{.x = x, .y = y},
            {.kind = kind, .code = button, .down = true, .x = x, .y = y},
            {.kind = kind, .code = button, .x = x, .y = y}};
}
inline Events wheel_events(float x, float y, float steps) {
    return {{.x = x, .y = y}, {.kind = InputEvent::Kind::Wheel, .x = x, .y = y, .wheel = steps}};
}

class PanelFixture : public testing::Test {
  protected:
    PanelFixture() {
        panel.atlas();
        panel.draw_beside([this](float scale, PanelActions&) {
            atlas = ImGui::GetIO().Fonts;
            draw_beside(scale);
        });
    }
    /// Draws more of Dear ImGui beside the panel.
    virtual void draw_beside(float) {}
    /// One frame of the program, which comes so many seconds after the one before, with all that
    /// the person did in it.
    void frame(const Events& events = {}, float seconds = 0.01f) {
        state.seconds = seconds;
        actions = {};
        input.begin_frame();
        panel.begin_input(gui, state, width, height, actions);
        for (InputEvent event : events) {
            panel.take(gui, event, state, actions);
            input.add(event);
        }
        panel.end_input(gui, input, state, actions);
        drawn = panel.draw(gui, state, actions);
    }
    void settle(int frames = 4) {
        for (int k = 0; k < frames; ++k) frame();
    }
    /// The text that the last frame has drawn there.
    std::string text_in(const Rectangle& within) const {
        return drawn_text(*drawn, *atlas, within);
    }
    std::string text() const { return text_in({0, 0, width, height}); }

    float width = 640, height = 320;
    Gui gui;
    GuiPanel panel{1, false, nullptr};
    PanelState state;
    PanelActions actions;
    RawInput input;
    const ImDrawData* drawn = nullptr;
    const ImFontAtlas* atlas = nullptr;
};

}  // namespace firn
