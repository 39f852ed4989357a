// What the person in front of the window does, as the operating system tells it.
#pragma once
#include <bitset>
#include <cstdint>
#include <vector>

#include "engine/window/input.h"

namespace firn {

/// Everything since the last frame, in pixels of the frame.
struct RawInput {
    float x = -1e9f, y = -1e9f;  // the mouse; far away where there is none
    MouseButton buttons[3];      // left, right, middle
    float wheel = 0;
    std::bitset<512> keys;             // down, by Key
    std::vector<int> pressed;          // keys that went down, in order
    std::vector<uint32_t> characters;  // typed text
    bool close = false;

    /// Forgets what belongs to one frame only.
    void begin_frame() {
        for (MouseButton& button : buttons) button.pressed = button.released = false;
        wheel = 0;
        pressed.clear();
        characters.clear();
    }
};

}  // namespace firn
