// The mouse and the keys, as the operating system reports them.
#pragma once
#include <algorithm>
#include <bitset>
#include <cstdint>
#include <vector>

#include "engine/window/input.h"

namespace firn {

/// One event of the person's input. All of them are in one queue, in the order in which they came.
struct InputEvent {
    enum class Kind : uint8_t { Move, Button, Wheel, Key, Character };
    Kind kind = Kind::Move;
    int code = 0;          // Button: left, right, middle; Key: see Key; Character: of Unicode
    bool down = false;     // Button, Key: it went down, else up
    bool repeats = false;  // Key: it went down before, and is held
    bool control = false, shift = false;  // were held
    bool plain = true;                    // Control, Alt and Super were not held
    float x = 0, y = 0;                   // where the mouse was, in pixels of the frame
    float wheel = 0;                      // steps, away from the person counts up
    bool on_panel = false;  // the panel takes it: the mouse is over it, or a field has the keyboard

    bool is_press() const {
        return down && !repeats && (kind == Kind::Button || kind == Kind::Key);
    }
};

/// The events of a frame in order, and what is held after them.
struct RawInput {
    std::vector<InputEvent> events;
    float x = -1e9f, y = -1e9f;  // the mouse, in pixels of the frame; far away where there is none
    bool buttons[3] = {};        // left, right, middle: down
    std::bitset<512> keys;       // down, by Key
    bool changed = false;        // anything came, or the window must be drawn anew

    /// Forgets what belongs to one frame only.
    void begin_frame() {
        events.clear();
        changed = false;
    }
    /// True if the frame can take the event too: a frame reports for each button and key at most
    /// that it went up, or down and up again; a further press waits for the next frame.
    bool has_room_for(const InputEvent& next) const {
        const bool modifier = next.kind == InputEvent::Kind::Key && next.code >= int(Key::Shift);
        if (next.on_panel || modifier || !next.is_press()) return true;
        return std::none_of(events.begin(), events.end(), [&](const InputEvent& event) {
            return event.kind == next.kind && event.code == next.code && !event.on_panel &&
                   !event.repeats;
        });
    }
    void add(const InputEvent& event) {
        events.push_back(event);
        x = event.x, y = event.y;
        if (event.kind == InputEvent::Kind::Button) buttons[event.code] = event.down;
        if (event.kind == InputEvent::Kind::Key) keys[static_cast<size_t>(event.code)] = event.down;
        changed = true;
    }
    /// True if the mouse has been in the window.
    bool has_mouse() const { return x > -1e8f; }
    /// True if a key or a button is down.
    bool holds_something() const { return keys.any() || buttons[0] || buttons[1] || buttons[2]; }
    /// True if Control is held, or was with an event that is not the panel's.
    bool has_control() const {
        return keys[static_cast<size_t>(Key::Control)] ||
               std::any_of(events.begin(), events.end(), [](const InputEvent& event) {
                   return event.control && !event.on_panel;
               });
    }
};

}  // namespace firn
