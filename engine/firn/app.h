// What every program with a window has: the command line, a session, the window, and what is
// written of its frames.
#pragma once
#include <string>

#include "engine/firn/window.h"

namespace firn {

/// What a program says of itself.
struct AppInfo {
    std::string name;     ///< of the program, its window, and its presets
    std::string help;     ///< one sentence: what is seen
    std::string keys;     ///< a sentence on what the mouse and keys of its own do
    std::string version;  ///< of the program itself, for `--version`
    WindowSize size;
    int headless_frames = 100;   ///< where `--frames` is not given
    bool runs_minimised = true;  ///< goes on while its window is minimised; false: waits
};

/// A program with a window: its parameters are made first, so that `--help` lists them, and `--set`
/// and `--preset` are checked before anything runs; then the program runs with a window. Parameters
/// that the program makes itself are set when it does; a name that nobody made is an error after
/// the first frame.
///
///     App app({.name = "wave", .help = "Waves on a square drum."});
///     Param<float> dt{app, "dt", 0.1f, {.min = 0, .max = 0.5, .help = "time step"}};
///     return app.run(argc, argv, [&](Window& window) { while (window.open()) { ... } });
///
/// While it lives, an exception that nobody catches is a message and the exit status of `run`, not
/// an abort; so one at a time.
class App {
  public:
    /// Begins without parameters; what nobody catches from now on is a message of `info.name`.
    explicit App(AppInfo info);
    /// What nobody catches ends programs as before.
    ~App();
    App(const App&) = delete;
    App& operator=(const App&) = delete;

    /// The panel, which is there before the window is; the window's own is the same.
    Gui& gui();
    /// A flag of its own, `--name TEXT`, for files and the like.
    void option(const std::string& name, std::string& value, const std::string& help);
    /// The same for a file that the program writes: it is refused at once where it cannot.
    void output(const std::string& name, std::string& value, const std::string& help);
    /// As AppInfo::runs_minimised, for what is part of a program.
    void go_on_minimised();
    /// Whether `--out` names a file of numbers, .exr, .hdr or .npy; known once run() has begun.
    bool writes_numbers() const;
    /// Files of numbers get those of this tensor, in place of the one that is shown.
    void set_numbers(const Tensor& picture);
    /// Of `--seed`; the same numbers give the same pictures.
    uint32_t seed() const;

    /// Runs `program` as the command line says, and writes what it asks for. Gives the exit status:
    /// 0; 2 where the caller can mend it (a message says how); 1 otherwise. Nothing is written
    /// half. SIGINT and SIGTERM end the run as closing the window does, and what takes long at
    /// once: a loop of kernels, calls that open no frame, recording, a compile. What was asked for
    /// of the frames until then is written, and it is 128 and their number, as shells have it. What
    /// cannot be ended, one long kernel on the device or in the driver's compiler, has the rest of
    /// a second; then videos are ended, a message says what is missing, and the process leaves it
    /// behind. Work that is none of Firn's is waited for. A second one kills. Where work would be
    /// lost (ViewWindow::unsaved), the first one asks in the window, and the second one ends.
    int run(int argc, char** argv, const Callback<void(Window&)>& program);

  private:
    struct State;
    SharedPtr<State> state_;
};

}  // namespace firn
