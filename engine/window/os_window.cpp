// A window of the operating system, through GLFW.
#include "engine/window/os_window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <dlfcn.h>
#include <poll.h>

#include <algorithm>
#include <cmath>

namespace firn {
namespace {

std::string glfw_error() {
    const char* text = nullptr;
    glfwGetError(&text);
    return text ? text : "GLFW gives no reason";
}

/// The connection to an X server, which is one per process too. GLFW and Xlib are asked by name:
/// not every system has these functions.
struct Connection {
    void* display = nullptr;
    int number = -1;                           // of its socket; -1: there is none
    int (*queued)(void*, int mode) = nullptr;  // events that are there; mode 2: as XPending
    bool broken = false;
};
Connection connection;

/// What Xlib calls, instead of ending the process, where something is asked of a display that has
/// gone away; that gives nothing then.
int note_broken_display(void*);
void stay(void*, void*) {}

Connection connection_to_display() {
    Connection out;
    void* xlib = dlopen("libX11.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (!xlib) return out;
    const auto display = reinterpret_cast<void* (*)()>(dlsym(RTLD_DEFAULT, "glfwGetX11Display"));
    const auto number = reinterpret_cast<int (*)(void*)>(dlsym(xlib, "XConnectionNumber"));
    out.queued = reinterpret_cast<int (*)(void*, int)>(dlsym(xlib, "XEventsQueued"));
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

/// Waits until something comes, or it breaks.
void wait_for_display(double seconds) {
    pollfd waited{connection.number, POLLIN | POLLRDHUP, 0};
    const bool comes = ::poll(&waited, 1, static_cast<int>(seconds * 1000)) == 1;
    connection.broken |= comes && (waited.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/// Before libX11 1.7 the process ends where something is asked of a display that has gone away: who
/// asks looks first.
bool display_is_there() {
    if (!connection.broken && connection.number >= 0) wait_for_display(0);
    return !connection.broken;
}

/// GLFW is one per process, so its users must be counted per process too.
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

/// Left and right keys count as one.
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
    : library_(use_glfw()) {
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
    // The connection to the display is the parent's where fork() made this process.
    if (handle_ && process_.is_here() && has_display()) glfwDestroyWindow(handle_);
}

OsWindow& OsWindow::of(GLFWwindow* handle) {
    return *static_cast<OsWindow*>(glfwGetWindowUserPointer(handle));
}

void OsWindow::set_callbacks() {
    set_mouse_callbacks();
    glfwSetKeyCallback(handle_, [](GLFWwindow* handle, int key, int, int action, int modifiers) {
        if (key < 0 || key >= 512) return;
        RawInput& input = of(handle).incoming_;
        input.changed = true;
        key = key_code(key);
        input.keys[static_cast<size_t>(key)] = action != GLFW_RELEASE;
        if (action != GLFW_PRESS) return;
        input.pressed.push_back(key);
        input.control |= (modifiers & GLFW_MOD_CONTROL) != 0;
        input.shift |= (modifiers & GLFW_MOD_SHIFT) != 0;
        if (!(modifiers & (GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER)))
            input.shortcuts.push_back(key);
    });
    glfwSetCharCallback(handle_, [](GLFWwindow* handle, unsigned int character) {
        of(handle).incoming_.characters.push_back(character);
        of(handle).incoming_.changed = true;
    });
    glfwSetWindowCloseCallback(handle_, [](GLFWwindow* handle) {
        of(handle).incoming_.close = of(handle).incoming_.changed = true;
    });
    auto changed = [](GLFWwindow* handle) { of(handle).incoming_.changed = true; };
    glfwSetWindowRefreshCallback(handle_, changed);
    glfwSetFramebufferSizeCallback(
        handle_, [](GLFWwindow* handle, int, int) { of(handle).incoming_.changed = true; });
    glfwSetWindowFocusCallback(handle_, [](GLFWwindow* handle, int focused) {
        // Keys that go up elsewhere are not heard of here.
        if (!focused) of(handle).incoming_.keys.reset();
        of(handle).incoming_.changed = true;
    });
    glfwSetWindowIconifyCallback(
        handle_, [](GLFWwindow* handle, int) { of(handle).incoming_.changed = true; });
}

void OsWindow::set_mouse_callbacks() {
    glfwSetCursorPosCallback(handle_, [](GLFWwindow* handle, double x, double y) {
        RawInput& input = of(handle).incoming_;
        input.x = static_cast<float>(x), input.y = static_cast<float>(y);
        input.changed = true;
    });
    // Nothing is heard of the mouse outside: it is where it left.
    glfwSetCursorEnterCallback(handle_, [](GLFWwindow* handle, int) {
        RawInput& input = of(handle).incoming_;
        double x = 0, y = 0;
        glfwGetCursorPos(handle, &x, &y);
        input.x = static_cast<float>(x), input.y = static_cast<float>(y);
        input.changed = true;
    });
    glfwSetMouseButtonCallback(handle_, [](GLFWwindow* handle, int button, int action, int) {
        if (button > GLFW_MOUSE_BUTTON_MIDDLE) return;
        RawInput& input = of(handle).incoming_;
        const int index = button_index(button);
        input.buttons[index] = action == GLFW_PRESS;
        // Where the mouse was then, which may be long ago.
        input.clicks.push_back({index, input.buttons[index], input.x, input.y});
        input.changed = true;
    });
    glfwSetScrollCallback(handle_, [](GLFWwindow* handle, double, double y) {
        RawInput& input = of(handle).incoming_;
        input.wheel += static_cast<float>(y);
        input.control |= input.keys[static_cast<size_t>(Key::Control)];
        input.changed = true;
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
    take();
}

void OsWindow::listen() {
    if (has_display()) glfwPollEvents();
}

bool OsWindow::is_leaving() const {
    const auto& keys = incoming_.pressed;
    return incoming_.close || !has_display() ||
           std::find(keys.begin(), keys.end(), GLFW_KEY_ESCAPE) != keys.end();
}

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

void OsWindow::take() {
    input_ = incoming_;
    incoming_.begin_frame();
    input_.close |= !has_display();
    if (!has_display()) return;
    int width = 0, height = 0;
    glfwGetWindowSize(handle_, &width, &height);
    const VkExtent2D pixels = extent();
    const float across = static_cast<float>(pixels.width) / static_cast<float>(std::max(width, 1)),
                down = static_cast<float>(pixels.height) / static_cast<float>(std::max(height, 1));
    input_.x *= across, input_.y *= down;
    for (Click& click : input_.clicks) click.x *= across, click.y *= down;
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
    incoming_.changed = true;
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
