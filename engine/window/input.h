// The mouse and the keys, in the coordinates of the tensor that is shown.
#pragma once
#include <cstdint>

namespace firn {

/// A mouse button. A press shorter than a frame is down for that frame.
struct MouseButton {
    bool down = false;
    bool pressed = false;   // went down since the last frame
    bool released = false;  // went up since the last frame
};

/// The mouse at row i and column j of the tensor; element (2, 3) covers i in [2, 3), j in [3, 4).
/// Over a flat drawing with limits of its own, j is x and i is y in its units; over a drawing in
/// space, they are pixels from the upper left. Buttons and the wheel do not change while the GUI
/// has the mouse.
struct Mouse {
    int view = 0;  // of several, in the order in which they are shown
    float i = 0, j = 0;
    float di = 0, dj = 0;  // movement since the last frame
    bool inside = false;   // over the tensor, not over its border or the GUI
    MouseButton left, right, middle;
    float wheel = 0;  // steps since the last frame, away from the person counts up
};

/// Keys other than letters and digits, whose codes are their upper-case characters.
enum class Key : int16_t {
    Space = 32,
    Escape = 256,
    Enter = 257,
    Tab = 258,
    Backspace = 259,
    Delete = 261,
    Right = 262,
    Left = 263,
    Down = 264,
    Up = 265,
    PageUp = 266,
    PageDown = 267,
    Home = 268,
    End = 269,
    F1 = 290,
    F2 = 291,
    F3 = 292,
    F9 = 298,
    F11 = 300,
    Shift = 340,
    Control = 341,
};

}  // namespace firn
