// A window of the operating system and its input, through GLFW.
#pragma once
#include <bitset>
#include <deque>
#include <memory>
#include <string>

#include "compiler/base/own_process.h"
#include "engine/gpu/vulkan.h"
#include "engine/window/raw_input.h"

struct GLFWwindow;

namespace firn {

/// A window of the operating system. It is used from the main thread only, as GLFW requires.
class OsWindow {
  public:
    /// Throws UserError if there is no display, or if no window can be opened on it. `scale`: if
    /// above 0, pixels of a unit instead of the display's.
    OsWindow(const std::string& title, int width, int height, float scale = 0,
             bool fullscreen = false);
    ~OsWindow();
    OsWindow(const OsWindow&) = delete;
    OsWindow& operator=(const OsWindow&) = delete;

    /// Creates a surface. Throws DeviceError if the instance cannot make one. The caller destroys
    /// it.
    VkSurfaceKHR create_surface(VkInstance instance) const;
    /// Returns GLFW itself. The owner of a surface holds it as long as the surface's instance
    /// lives: drivers remember the display's connection by its address, and would mistake a new one
    /// at the same address for the old.
    const std::shared_ptr<void>& library() const { return library_; }
    /// Takes the events that have come since the last call, after those that still wait.
    void poll();
    /// Like poll, but waits for so many seconds until an event comes, for any window.
    void wait(double seconds);
    /// Receives events for the next poll.
    void listen();
    /// True if a waiting event closes the window, or is Escape.
    bool is_leaving() const;
    void set_title(const std::string& title);
    /// True if input waits for the next frame.
    bool has_input() const { return changed_ || closing_ || !events_.empty(); }
    /// Returns the first event until the last poll that no frame has taken; null: none.
    const InputEvent* next_event() const { return placed_ > 0 ? &events_.front() : nullptr; }
    /// Removes the event, which a frame has taken.
    void drop_event();
    /// Returns true once after the window was told to close, or the display has gone away.
    bool take_close();
    /// Returns true once after any event, or if the window must be redrawn.
    bool take_change();
    /// Returns the pixels of the frame; 0 while it is minimised on some systems.
    VkExtent2D extent() const;
    bool is_minimised() const;
    /// False if the connection to it broke: the window is closed then.
    bool has_display() const;
    /// Removes the window from the screen until it ends.
    void hide();
    /// Fills the screen, or returns to the former place.
    void toggle_fullscreen();
    /// Returns the text of the clipboard, which lives until the next call.
    const char* clipboard() const;
    void set_clipboard(const char* text);
    /// Returns the pixels per 1/96 inch as the panel uses them: in quarters, 1 at least.
    float scale() const;
    /// Returns the pixels per 1/96 inch, not rounded.
    float exact_scale() const;

  private:
    static OsWindow& of(GLFWwindow* handle);
    void set_callbacks();
    void set_mouse_callbacks();
    void note(InputEvent event);
    void note_modifiers(int modifiers);
    void place_events();

    OwnProcess process_;
    std::shared_ptr<void> library_;  // GLFW ends with its last user
    std::bitset<256> held_before_;   // keys that have been down since before the window opened
    GLFWwindow* handle_ = nullptr;
    bool fullscreen_ = false;
    int before_[4] = {};  // its former place and size, in GLFW's units
    std::deque<InputEvent> events_;
    size_t placed_ = 0;  // the first ones have positions in pixels, others in the window's units
    float x_ = -1e9f, y_ = -1e9f;                          // the mouse, in the window's own units
    bool control_ = false, shift_ = false, plain_ = true;  // as in InputEvent
    bool changed_ = false, closing_ = false;
};

}  // namespace firn
