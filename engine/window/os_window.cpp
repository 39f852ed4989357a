// A window of the operating system, through GLFW.
#include "engine/window/os_window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <dlfcn.h>
#include <poll.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace firn {
namespace {

std::string glfw_error() {
    const char* text = nullptr;
    glfwGetError(&text);
    return text ? text : "GLFW gives no reason";
}

/// The connection to an X server, which is one per process too. Functions of GLFW and Xlib are
/// looked up by name, since not every system has them.
struct Connection {
    void* display = nullptr;
    int number = -1;                            // of its socket; -1: there is none
    int (*queued)(void*, int mode) = nullptr;   // events that are there; mode 2: as XPending
    int (*query_keys)(void*, char*) = nullptr;  // what is down: a bit for each key of 256
    bool broken = false;
};
Connection connection;

/// Xlib calls this instead of ending the process if a display that has gone away is used; the use
/// then returns nothing.
int note_broken_display(void*);
void stay(void*, void*) {}

Connection connection_to_display() {
    Connection out;
    void* xlib = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (!xlib) return out;
    const auto display = reinterpret_cast<void* (*)()>(dlsym(RTLD_DEFAULT, "glfwGetX11Display"));
    const auto number = reinterpret_cast<int (*)(void*)>(dlsym(xlib, "XConnectionNumber"));
    out.queued = reinterpret_cast<int (*)(void*, int)>(dlsym(xlib, "XEventsQueued"));
    out.query_keys = reinterpret_cast<int (*)(void*, char*)>(dlsym(xlib, "XQueryKeymap"));
    if (display && number && out.queued) out.display = display();
    if (out.display) out.number = number(out.display);
    using Error = int (*)(void*);
    using Exit = void (*)(void*, void*);
    const auto on_error = reinterpret_cast<Error (*)(Error)>(dlsym(xlib, "XSetIOErrorHandler"));
    const auto on_exit = reinterpret_cast<void (*)(void*, Exit, void*)>(
        dlsym(xlib, "XSetIOErrorExitHandler"));  // since libX11 1.7
    if (out.display && on_error && on_exit) {
        on_error(note_broken_display);
        on_exit(out.display, stay, nullptr);
    }
    dlclose(xlib);
    return out;
}

int note_broken_display(void*) {
    connection.broken = true;
    return 0;
}

/// Waits until an event comes or the connection breaks.
void wait_for_display(double seconds) {
    pollfd waited{connection.number, POLLIN | POLLRDHUP, 0};
    const bool comes = ::poll(&waited, 1, static_cast<int>(seconds * 1000)) == 1;
    connection.broken |= comes && (waited.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/// Checks the display. Before libX11 1.7 the process ends if a display that has gone away is used,
/// so callers check first.
bool display_is_there() {
    if (!connection.broken && connection.number >= 0) wait_for_display(0);
    return !connection.broken;
}

/// Returns the keys that are down, in any window, by their scancodes; none if the display does not
/// tell.
std::bitset<256> keys_down() {
    std::bitset<256> out;
    if (!connection.display || !connection.query_keys || !display_is_there()) return out;
    char keys[32] = {};
    connection.query_keys(connection.display, keys);
    for (size_t key = 0; key < out.size(); ++key) out[key] = keys[key / 8] >> key % 8 & 1;
    return out;
}

/// Returns GLFW, initialised once: there is one per process, so its users must be counted per
/// process too.
std::shared_ptr<void> use_glfw() {
    static std::weak_ptr<void> current;
    if (auto library = current.lock()) return library;
    if (!glfwInit()) {
        throw UserError("window: there is no display to open it on (" + glfw_error() +
                        "); set DISPLAY to one, or run headless (--headless --out picture.png)");
    }
    connection = connection_to_display();
    std::shared_ptr<void> library(nullptr, [process = OwnProcess()](void*) {
        if (process.is_here() && display_is_there()) glfwTerminate();
    });
    current = library;
    return library;
}

int button_index(int glfw_button) {
    return glfw_button == GLFW_MOUSE_BUTTON_LEFT    ? 0
           : glfw_button == GLFW_MOUSE_BUTTON_RIGHT ? 1
                                                    : 2;
}

/// Returns the key code; left and right keys have the same one.
int key_code(int key) {
    if (key == GLFW_KEY_RIGHT_CONTROL) return GLFW_KEY_LEFT_CONTROL;
    if (key == GLFW_KEY_RIGHT_SHIFT) return GLFW_KEY_LEFT_SHIFT;
    return key == GLFW_KEY_KP_ENTER ? GLFW_KEY_ENTER : key;
}

}  // namespace

static_assert(static_cast<int>(Key::Escape) == GLFW_KEY_ESCAPE &&
              static_cast<int>(Key::Up) == GLFW_KEY_UP &&
              static_cast<int>(Key::End) == GLFW_KEY_END &&
              static_cast<int>(Key::Control) == GLFW_KEY_LEFT_CONTROL);

OsWindow::OsWindow(const std::string& title, int width, int height, float scale, bool fullscreen)
    : library_(use_glfw()), held_before_(keys_down()) {
    if (!glfwVulkanSupported()) {
        throw UserError("window: GLFW finds no Vulkan for windows (" + glfw_error() +
                        "); install libvulkan1 and a driver, or run headless");
    }
    glfwWindowHint(GLFW_CLIENT_API, GLFW_NO_API);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, scale > 0 ? GLFW_FALSE : GLFW_TRUE);
    if (scale > 0) {
        width = std::max(1, static_cast<int>(std::lround(static_cast<float>(width) * scale)));
        height = std::max(1, static_cast<int>(std::lround(static_cast<float>(height) * scale)));
    }
    handle_ = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
    if (!handle_) {
        throw UserError("window: cannot open one of " + std::to_string(width) + "x" +
                        std::to_string(height) + " (" + glfw_error() +
                        "); run headless (--headless --out picture.png)");
    }
    glfwSetWindowUserPointer(handle_, this);
    set_callbacks();
    if (fullscreen) toggle_fullscreen();
}

OsWindow::~OsWindow() {
    // If fork() made this process, the connection to the display belongs to the parent.
    if (handle_ && process_.is_here() && has_display()) glfwDestroyWindow(handle_);
}

OsWindow& OsWindow::of(GLFWwindow* handle) {
    return *static_cast<OsWindow*>(glfwGetWindowUserPointer(handle));
}

/// Adds an event with the modifiers and the present place of the mouse.
void OsWindow::note(InputEvent event) {
    event.x = x_, event.y = y_;
    event.control = control_, event.shift = shift_, event.plain = plain_;
    events_.push_back(event);
    changed_ = true;
}

void OsWindow::note_modifiers(int modifiers) {
    control_ = (modifiers & GLFW_MOD_CONTROL) != 0;
    shift_ = (modifiers & GLFW_MOD_SHIFT) != 0;
    plain_ = (modifiers & (GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER)) == 0;
}

void OsWindow::set_callbacks() {
    set_mouse_callbacks();
    const auto note_key = [](GLFWwindow* handle, int key, int scancode, int action, int modifiers) {
        if (key < 0 || key >= 512) return;
        OsWindow& window = of(handle);
        key = key_code(key);
        window.note_modifiers(modifiers);
        // For a key's own event, the system does not include its press yet, but still includes its
        // release.
        if (key == GLFW_KEY_LEFT_CONTROL) window.control_ = action != GLFW_RELEASE;
        if (key == GLFW_KEY_LEFT_SHIFT) window.shift_ = action != GLFW_RELEASE;
        // GLFW takes the first repeat for a press if the key went down in another window.
        const size_t place = static_cast<size_t>(scancode);
        const bool held = place < window.held_before_.size() && window.held_before_[place];
        if (held && action == GLFW_RELEASE) window.held_before_.reset(place);
        window.note({.kind = InputEvent::Kind::Key,
                     .code = key,
                     .down = action != GLFW_RELEASE,
                     .repeats = action == GLFW_REPEAT || held});
    };
    glfwSetKeyCallback(handle_, note_key);
    glfwSetCharCallback(handle_, [](GLFWwindow* handle, unsigned int character) {
        of(handle).note({.kind = InputEvent::Kind::Character, .code = static_cast<int>(character)});
    });
    glfwSetWindowCloseCallback(handle_, [](GLFWwindow* handle) { of(handle).closing_ = true; });
    auto changed = [](GLFWwindow* handle) { of(handle).changed_ = true; };
    glfwSetWindowRefreshCallback(handle_, changed);
    glfwSetFramebufferSizeCallback(
        handle_, [](GLFWwindow* handle, int, int) { of(handle).changed_ = true; });
    // GLFW releases held keys and buttons if the window loses the focus.
    glfwSetWindowFocusCallback(handle_,
                               [](GLFWwindow* handle, int) { of(handle).changed_ = true; });
    glfwSetWindowIconifyCallback(handle_,
                                 [](GLFWwindow* handle, int) { of(handle).changed_ = true; });
}

void OsWindow::set_mouse_callbacks() {
    glfwSetCursorPosCallback(handle_, [](GLFWwindow* handle, double x, double y) {
        OsWindow& window = of(handle);
        window.x_ = static_cast<float>(x), window.y_ = static_cast<float>(y);
        window.note({.kind = InputEvent::Kind::Move});
    });
    // No events come from outside the window: the mouse stays where it left.
    glfwSetCursorEnterCallback(handle_, [](GLFWwindow* handle, int) {
        OsWindow& window = of(handle);
        double x = 0, y = 0;
        glfwGetCursorPos(handle, &x, &y);
        window.x_ = static_cast<float>(x), window.y_ = static_cast<float>(y);
        window.note({.kind = InputEvent::Kind::Move});
    });
    glfwSetMouseButtonCallback(handle_,
                               [](GLFWwindow* handle, int button, int action, int modifiers) {
                                   if (button > GLFW_MOUSE_BUTTON_MIDDLE) return;
                                   of(handle).note_modifiers(modifiers);
                                   of(handle).note({.kind = InputEvent::Kind::Button,
                                                    .code = button_index(button),
                                                    .down = action == GLFW_PRESS});
                               });
    glfwSetScrollCallback(handle_, [](GLFWwindow* handle, double, double y) {
        of(handle).note({.kind = InputEvent::Kind::Wheel, .wheel = static_cast<float>(y)});
    });
}

VkSurfaceKHR OsWindow::create_surface(VkInstance instance) const {
    VkSurfaceKHR surface = VK_NULL_HANDLE;
    check(glfwCreateWindowSurface(instance, handle_, nullptr, &surface), "glfwCreateWindowSurface",
          "window");
    return surface;
}

bool OsWindow::has_display() const { return display_is_there(); }

void OsWindow::poll() {
    listen();  // for all windows: what is not ours waits for its own window's poll
    place_events();
}

void OsWindow::listen() {
    if (!has_display()) return;
    // GLFW does not report the release of a key that did not repeat.
    if (held_before_.any()) held_before_ &= keys_down();
    glfwPollEvents();
}

bool OsWindow::is_leaving() const {
    return closing_ || !has_display() ||
           std::any_of(events_.begin(), events_.end(), [](const InputEvent& event) {
               return event.kind == InputEvent::Kind::Key && event.is_press() &&
                      event.code == GLFW_KEY_ESCAPE;
           });
}

void OsWindow::drop_event() {
    events_.pop_front();
    --placed_;
}

bool OsWindow::take_close() { return std::exchange(closing_, false) || !has_display(); }
bool OsWindow::take_change() { return std::exchange(changed_, false) || !events_.empty(); }

void OsWindow::set_title(const std::string& title) {
    if (has_display()) glfwSetWindowTitle(handle_, title.c_str());
}

void OsWindow::wait(double seconds) {
    if (has_display() && !has_input()) {
        if (connection.number < 0)
            glfwWaitEventsTimeout(seconds);
        else if (connection.queued(connection.display, 2) == 0)
            wait_for_display(seconds);
    }
    poll();
}

/// Converts the positions of the events that came since the last call to pixels.
void OsWindow::place_events() {
    if (placed_ == events_.size() || !has_display()) return;
    int width = 0, height = 0;
    glfwGetWindowSize(handle_, &width, &height);
    const VkExtent2D pixels = extent();
    const float across = static_cast<float>(pixels.width) / static_cast<float>(std::max(width, 1)),
                down = static_cast<float>(pixels.height) / static_cast<float>(std::max(height, 1));
    for (; placed_ < events_.size(); ++placed_)
        events_[placed_].x *= across, events_[placed_].y *= down;
}

bool OsWindow::is_minimised() const {
    return has_display() && glfwGetWindowAttrib(handle_, GLFW_ICONIFIED) == GLFW_TRUE;
}

VkExtent2D OsWindow::extent() const {
    int width = 0, height = 0;
    if (has_display()) glfwGetFramebufferSize(handle_, &width, &height);
    return {static_cast<uint32_t>(width), static_cast<uint32_t>(height)};
}

void OsWindow::hide() {
    if (has_display()) glfwHideWindow(handle_);
}

void OsWindow::toggle_fullscreen() {
    GLFWmonitor* monitor = glfwGetPrimaryMonitor();
    const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : nullptr;
    if (!mode) return;
    fullscreen_ = !fullscreen_;
    if (fullscreen_) {
        glfwGetWindowPos(handle_, &before_[0], &before_[1]);
        glfwGetWindowSize(handle_, &before_[2], &before_[3]);
        glfwSetWindowMonitor(handle_, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
    } else {
        glfwSetWindowMonitor(handle_, nullptr, before_[0], before_[1], before_[2], before_[3],
                             GLFW_DONT_CARE);
    }
    changed_ = true;
}

const char* OsWindow::clipboard() const { return glfwGetClipboardString(handle_); }
void OsWindow::set_clipboard(const char* text) { glfwSetClipboardString(handle_, text); }

float OsWindow::exact_scale() const {
    float x = 1, y = 1;
    if (has_display()) glfwGetWindowContentScale(handle_, &x, &y);
    return x > 0 ? x : 1;
}

float OsWindow::scale() const { return std::clamp(std::round(exact_scale() * 4) / 4, 1.0f, 4.0f); }

}  // namespace firn
