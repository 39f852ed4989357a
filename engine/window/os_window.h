// A window of the operating system and its input, through GLFW.
#pragma once
#include <deque>
#include <memory>
#include <string>

#include "compiler/program/own_process.h"
#include "engine/gpu/vulkan.h"
#include "engine/window/raw_input.h"

struct GLFWwindow;

namespace firn {

/// Used from the main thread only, as GLFW asks.
class OsWindow {
  public:
    /// Throws UserError where there is no display, or no window can be opened on it.
    /// `scale` above 0: pixels of a unit, in place of the display's.
    OsWindow(const std::string& title, int width, int height, float scale = 0,
             bool fullscreen = false);
    ~OsWindow();
    OsWindow(const OsWindow&) = delete;
    OsWindow& operator=(const OsWindow&) = delete;

    /// Throws DeviceError where the instance cannot make one. The caller destroys it.
    VkSurfaceKHR create_surface(VkInstance instance) const;
    /// GLFW itself. Whoever made a surface holds it as long as its instance lives: drivers remember
    /// the display's connection by its address, and take a new one at the same address for the old.
    const std::shared_ptr<void>& library() const { return library_; }
    /// Takes what has come since, behind the events that still wait.
    void poll();
    /// Like poll, but lets so many seconds pass until something comes, for any window.
    void wait(double seconds);
    /// Lets in what comes, for the next poll.
    void listen();
    /// What waits closes it, or is Escape.
    bool is_leaving() const;
    void set_title(const std::string& title);
    /// Something waits, for the next frame.
    bool has_input() const { return changed_ || closing_ || !events_.empty(); }
    /// The first of what the person did until the last poll and no frame has taken; null: none.
    const InputEvent* next_event() const { return placed_ > 0 ? &events_.front() : nullptr; }
    /// A frame has taken it.
    void drop_event();
    /// True once after the window was told to close, or the display has gone away.
    bool take_close();
    /// True once after anything came, or the window must be drawn anew.
    bool take_change();
    /// Pixels of the frame; 0 while it is minimised on some systems.
    VkExtent2D extent() const;
    bool is_minimised() const;
    /// False where the connection to it broke: the window is closed then.
    bool has_display() const;
    /// Off the screen, until it ends.
    void hide();
    /// Fills the screen, or goes back to where it was.
    void toggle_fullscreen();
    /// Text of the clipboard; lives until the next call.
    const char* clipboard() const;
    void set_clipboard(const char* text);
    /// Pixels per 1/96 inch, as the panel takes it: in quarters, 1 at least.
    float scale() const;
    /// The same as it is.
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
    GLFWwindow* handle_ = nullptr;
    bool fullscreen_ = false;
    int before_[4] = {};  // where it was, and how large, in GLFW's units
    std::deque<InputEvent> events_;
    size_t placed_ = 0;  // the first ones have positions in pixels, others in the window's units
    float x_ = -1e9f, y_ = -1e9f;                          // the mouse, in the window's own units
    bool control_ = false, shift_ = false, plain_ = true;  // as in InputEvent
    bool changed_ = false, closing_ = false;
};

}  // namespace firn
