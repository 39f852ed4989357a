// What the person in front of the window does, as the operating system tells it.
#pragma once
#include <bitset>
#include <cstdint>
#include <vector>

#include "engine/window/input.h"

namespace firn {

/// A mouse button went down or up, and where; in order.
struct Click {
    int button = 0;  // left, right, middle
    bool down = false;
    float x = 0, y = 0;
    bool on_panel = false;  // the panel has it, or had the press that it ends
};

/// Everything since the last frame, in pixels of the frame.
struct RawInput {
    float x = -1e9f, y = -1e9f;  // the mouse; far away where there is none
    bool buttons[3] = {};        // left, right, middle: down
    std::vector<Click> clicks;
    float wheel = 0;
    std::bitset<512> keys;                // down, by Key
    std::vector<int> pressed;             // keys that went down, in order
    std::vector<int> shortcuts;           // of those, what Control, Alt and Super did not go with
    bool control = false, shift = false;  // went with one of them; control also with the wheel
    std::vector<uint32_t> characters;     // typed text
    bool close = false;
    bool changed = false;  // anything came, or the window must be drawn anew

    /// Forgets what belongs to one frame only.
    void begin_frame() {
        clicks.clear();
        wheel = 0;
        pressed.clear();
        shortcuts.clear();
        control = shift = false;
        characters.clear();
        changed = false;
    }
    /// A key or a button is down.
    bool holds_something() const { return keys.any() || buttons[0] || buttons[1] || buttons[2]; }
};

}  // namespace firn
