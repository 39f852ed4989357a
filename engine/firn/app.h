// App: the command line, the session, the window and the output files of a program with a window.
#pragma once
#include <string>
#include <vector>

#include "compiler/frontend/session.h"
#include "engine/firn/window.h"

namespace firn {

/// Describes a program to App: its name, texts of --help, and defaults.
struct AppInfo {
    std::string name;     ///< names the program, its window, and its presets
    std::string help;     ///< one sentence on what the program shows
    std::string keys;     ///< a sentence on the program's own mouse actions and keys
    std::string version;  ///< the program's own version, for `--version`
    WindowSize size;
    int headless_frames = 100;   ///< the default of `--frames` in headless runs
    bool runs_minimised = true;  ///< false: the program waits while its window is minimised
    int devices = 1;             ///< devices that the program can use at once, see App::devices
};

/// A program with a window. Make its parameters first, so that `--help` lists them, and `--set` and
/// `--preset` are checked before anything runs; then run() opens the window and runs the program.
/// Parameters that the program makes inside run() are set at that moment; a name in `--set` or a
/// preset that no parameter has is an error after the first frame.
///
///     App app({.name = "wave", .help = "Waves on a square drum."});
///     Param<float> dt{app, "dt", 0.1f, {.min = 0, .max = 0.5, .help = "time step"}};
///     return app.run(argc, argv, [&](Window& window) { while (window.open()) { ... } });
///
/// While an App lives, an uncaught exception becomes a message and the exit status of `run`, not an
/// abort; so only one App may exist at a time.
class App {
  public:
    /// Begins without parameters. From now on uncaught exceptions are reported as messages of
    /// `info.name`.
    explicit App(AppInfo info);
    /// Restores the earlier handling of uncaught exceptions.
    ~App();
    App(const App&) = delete;
    App& operator=(const App&) = delete;

    /// The panel. It exists before the window, which then shows the same one.
    Gui& gui();
    /// Adds a flag `--name TEXT` of the program's own, for files and the like.
    void option(const std::string& name, std::string& value, const std::string& help);
    /// The same for a file that the program writes: a path that cannot be written is refused before
    /// the run.
    void output(const std::string& name, std::string& value, const std::string& help);
    /// Keeps the program running while its window is minimised; for parts of a program, which
    /// cannot set AppInfo::runs_minimised.
    void go_on_minimised();
    /// Returns whether `--out` names a file of numbers, .exr, .hdr or .npy; known once run() has
    /// begun.
    bool writes_numbers() const;
    /// Output files of numbers get this tensor's, in place of the shown tensor's.
    void set_numbers(const Tensor& picture);
    /// The sessions of the devices that `--device` or FIRN_DEVICE lists, `--device cpu,0`, at most
    /// AppInfo::devices: the one that is current in run() and shows the frames, then the others.
    /// One device may be listed twice. Empty before run() has begun.
    const std::vector<Session>& devices() const;
    /// The value of `--seed`; equal seeds give equal pictures.
    uint32_t seed() const;
    /// Runs the program in the session that is current where run() is called, and not in one of its
    /// own: tensors and functions that were made before belong to it. The command line chooses the
    /// device of a session that has run nothing so far; a device, validation or the inspector for
    /// one that has is a UserError.
    void use_current_session();

    /// Runs `program` as the command line says, and writes the files that it asks for, each whole
    /// or not at all. Returns the exit status: 0; 2 for an error that the user can mend (a message
    /// says how); 1 for any other error; 128 plus its number after a signal, as in shells. SIGINT
    /// and SIGTERM end the run as closing the window does, and they cut long work at once: a loop
    /// of kernels, calls that open no frame, recording, a compile. Files of the frames until then
    /// are written. Work that cannot be cut (one long kernel on the device, or the driver's
    /// compiler) gets the rest of a second; then videos are finished, a message says what is
    /// missing, and the process exits without waiting for it. Work outside of Firn is waited for. A
    /// second signal kills the process. If work would be lost (ViewWindow::unsaved), the first
    /// signal asks in the window, and the second one ends the run.
    int run(int argc, char** argv, const Callback<void(Window&)>& program);

  private:
    struct State;
    SharedPtr<State> state_;
};

}  // namespace firn
