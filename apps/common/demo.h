// What all demos share: the command line, the session, the window, and what is written at the end.
#pragma once
#include <firn/firn.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace firn {

struct DemoInfo {
    std::string name;
    std::string help;  // one sentence: what is seen
    std::string keys;  // a sentence on what the mouse and keys of its own do, for --help
    WindowSize size;
    int headless_frames = 100;  // where --frames is not given
    bool linear = false;        // gives a linear picture, which --out can write as .exr
};

/// A demo: its parameters are made first, so that --help lists them, and --set and --preset are
/// checked before anything runs; then its program runs with a window. Parameters that the program
/// makes itself are set when it does; a name that nobody made is an error after the first frame.
///     float dt = 0.1f;
///     Demo demo({.name = "wave", .help = "Waves on a square drum."});
///     demo.gui().slider("dt", dt, 0.0f, 0.5f, {.help = "time step"});
///     return demo.run(argc, argv, [&](Window& window) { while (window.open()) { ... } });
class Demo {
  public:
    explicit Demo(DemoInfo info) : info_(std::move(info)) {}

    /// Where widgets are made before the window is there.
    Gui& gui() { return gui_; }
    /// A flag of its own, `--name TEXT`, for files and the like.
    void option(const std::string& name, std::string& value, const std::string& help);
    /// The same for a file that the program writes: it is refused at once where it cannot.
    void output(const std::string& name, std::string& value, const std::string& help);
    /// It goes on while its window is minimised, as learning does.
    void go_on_minimised() { runs_minimised_ = true; }
    /// Of DemoInfo::linear: f32[h, w, 3], given by the program before it ends.
    void set_linear_picture(const Tensor& picture) { linear_ = picture; }
    /// Of --seed; the same numbers give the same pictures.
    uint32_t seed() const { return seed_; }

    /// Runs `program` as the command line says, and writes what it asks for. Gives the exit status:
    /// 0; 2 where the caller can mend it (a message says how); 1 otherwise. Nothing is written
    /// half. SIGINT and SIGTERM end the run as closing the window does; then it is 128 and their
    /// number, as shells have it.
    int run(int argc, char** argv, const std::function<void(Window&)>& program);

  private:
    struct Option {
        std::string name, help;
        std::string* value;
        bool written = false;
    };

    DemoInfo info_;
    Gui gui_;
    std::vector<Option> options_;
    uint32_t seed_ = 1;
    bool runs_minimised_ = false;
    std::optional<Tensor> linear_;
};

}  // namespace firn
