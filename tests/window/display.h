// A virtual display for tests with real windows, and a hand that clicks in them.
#pragma once
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

namespace firn {

/// An Xvfb of its own on a free display; DISPLAY names it until the end.
class VirtualDisplay {
  public:
    VirtualDisplay() {
        int ends[2];
        if (pipe(ends) != 0) return;
        process_ = fork();
        if (process_ == 0) {
            std::string descriptor = std::to_string(ends[1]);
            // Without -noreset the server starts afresh when the last window is closed, under the
            // next one.
            // The server ends with this process and does not hold its outputs open: ctest waits
            // until all of these are closed.
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            const int nowhere = open("/dev/null", O_WRONLY);
            dup2(nowhere, STDOUT_FILENO), dup2(nowhere, STDERR_FILENO);
            execlp("Xvfb", "Xvfb", "-displayfd", descriptor.c_str(), "-screen", "0", "1000x800x24",
                   "-noreset", "-nolisten", "tcp", nullptr);
            _exit(127);
        }
        close(ends[1]);
        char c = 0;
        while (read(ends[0], &c, 1) == 1 && c != '\n') number_ += c;
        close(ends[0]);
        if (!number_.empty()) setenv("DISPLAY", (":" + number_).c_str(), 1);
        // The windows' settings are kept apart from those of the person who runs the tests.
        char folder[] = "/tmp/firn_settings_XXXXXX";
        if (mkdtemp(folder)) settings_ = folder;
        setenv("XDG_CONFIG_HOME", settings_.c_str(), 1);
    }
    ~VirtualDisplay() {
        if (process_ <= 0) return;
        kill(process_, SIGTERM);
        waitpid(process_, nullptr, 0);
        unsetenv("DISPLAY");
        unsetenv("XDG_CONFIG_HOME");
        std::filesystem::remove_all(settings_);
    }
    VirtualDisplay(const VirtualDisplay&) = delete;
    VirtualDisplay& operator=(const VirtualDisplay&) = delete;

    /// False where Xvfb is not installed.
    bool works() const { return !number_.empty(); }

  private:
    pid_t process_ = -1;
    std::string number_, settings_;
};

/// The process that types and clicks; -1: none.
inline pid_t& hand() {
    static pid_t process = -1;
    return process;
}

/// Its commands have run.
inline bool hand_is_done() {
    if (hand() > 0 && waitpid(hand(), nullptr, WNOHANG) != 0) hand() = -1;
    return hand() <= 0;
}
inline void await_hand() {
    if (hand() > 0) waitpid(hand(), nullptr, 0);
    hand() = -1;
}

/// Starts xdotool commands on the window of this title, as soon as it is on the screen; `$id` is
/// the window. Returns at once, but lets the hand of an earlier test finish first: it may still
/// hold the mouse. Keys are pressed by `windowfocus $id key`. By `key --window $id`, xdotool
/// presses the key of the display and lets go of it in that window: if the key has closed the
/// window, the display holds it down, repeats it to the next window, and takes no further press of
/// it.
inline void by_hand(const std::string& title, const std::string& commands) {
    await_hand();
    std::string script =
        "sh -c \"id=\\$(timeout 100 xdotool search --sync --onlyvisible --name '^" + title +
        "\\$' | head -1); xdotool " + commands + "\" > /dev/null 2>&1";
    hand() = fork();
    if (hand() == 0) {
        setpgid(0, 0);
        execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
        _exit(127);
    }
    if (hand() < 0) std::abort();
}
/// Calls a function of Xlib with a connection to the display of its own; false if there is none.
template <class Use>
bool with_xlib(const Use& use) {
    void* x11 = dlopen("libX11.so.6", RTLD_NOW);
    if (!x11) return false;
    const auto function = [&](auto type, const char* name) {
        return reinterpret_cast<decltype(type)>(dlsym(x11, name));
    };
    void* display = function((void* (*)(const char*)) nullptr, "XOpenDisplay")(nullptr);
    if (!display) return false;
    const bool done = use(display, function);
    function((int (*)(void*)) nullptr, "XCloseDisplay")(display);
    return done;
}
/// True if the display takes a key for held.
inline bool holds_a_key() {
    return with_xlib([](void* display, const auto& function) {
        char keys[32] = {};  // a bit for each key
        function((int (*)(void*, char*)) nullptr, "XQueryKeymap")(display, keys);
        return std::any_of(std::begin(keys), std::end(keys), [](char byte) { return byte != 0; });
    });
}
/// Tells the window of this title to close, as its close button does. (xdotool's windowclose ends
/// the connection instead.)
inline bool press_close_button(const std::string& title) {
    FILE* search = popen(
        ("timeout 100 xdotool search --sync --onlyvisible --name '^" + title + "$'").c_str(), "r");
    unsigned long window = 0;
    const bool found = search && fscanf(search, "%lu", &window) == 1;
    if (search) pclose(search);
    if (!found) return false;
    using Atom = unsigned long;
    struct {  // XClientMessageEvent, in the room of an XEvent
        int type = 33;
        unsigned long serial = 0;
        int send_event = 1;
        void* display = nullptr;
        unsigned long window = 0;
        Atom message_type = 0;
        int format = 32;
        long data[5] = {};
        long rest[12] = {};
    } event;
    event.window = window;
    return with_xlib([&](void* display, const auto& function) {
        const auto atom = function((Atom(*)(void*, const char*, int)) nullptr, "XInternAtom");
        event.message_type = atom(display, "WM_PROTOCOLS", 0);
        event.data[0] = static_cast<long>(atom(display, "WM_DELETE_WINDOW", 0));
        const auto send =
            function((int (*)(void*, unsigned long, int, long, void*)) nullptr, "XSendEvent");
        return send(display, window, 0, 0, &event) != 0;
    });
}

/// Ends the commands that are left: their window is gone, and the next one may have its number.
/// `key` is let go, which the display would repeat otherwise.
inline void drop_hand(const std::string& key) {
    if (hand() <= 0) return;
    kill(-hand(), SIGKILL);
    waitpid(hand(), nullptr, 0);
    hand() = -1;
    if (std::system(("xdotool keyup " + key + " > /dev/null 2>&1").c_str()) != 0) std::abort();
}

}  // namespace firn
