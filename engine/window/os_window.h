// A window of the operating system and its input, through GLFW.
#pragma once
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
    /// Forgets the input of the last frame and takes what has come since.
    void poll();
    /// Like poll, but lets so many seconds pass until something comes, for any window.
    void wait(double seconds);
    /// Lets in what comes, for the next poll.
    void listen();
    /// What came since the last poll closes it, or is Escape.
    bool is_leaving() const;
    void set_title(const std::string& title);
    /// The next poll finds something.
    bool has_input() const { return incoming_.changed; }
    const RawInput& input() const { return input_; }
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
    void take();

    OwnProcess process_;
    std::shared_ptr<void> library_;  // GLFW ends with its last user
    GLFWwindow* handle_ = nullptr;
    bool fullscreen_ = false;
    int before_[4] = {};  // where it was, and how large, in GLFW's units
    RawInput incoming_;   // since the last poll, positions in the window's own units
    RawInput input_;      // of the frame
};

}  // namespace firn
