// The command line of a program with a window, as plain data.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/app/output_file.h"
#include "engine/parameters/parameters.h"
#include "engine/window/view_window.h"

namespace firn {

struct CommandLine {
    bool list_devices = false, headless = false, validate = false, print_widgets = false,
         inspect = false, show_gui = false, light = false, fullscreen = false, vsync = true,
         quiet = false, forget = false;
    std::string device;                      // the first of those that are given; empty: none
    std::vector<std::string> other_devices;  // those behind it
    std::string preset, save_preset, profile, dump;
    OutputFile out;
    WindowSize size;
    float scale = 0;         // 0: the display's
    int frames = 0;          // 0: until the window is closed
    int every = 1;           // frames between two that are recorded
    double fps_limit = 60;   // 0: none
    double video_rate = 60;  // frames per second of a video
    uint32_t seed = 1;
    /// Values of parameters by name: first those of their own flags, then those of --set in order.
    std::vector<std::pair<std::string, std::string>> sets;
};

/// A flag that one program adds.
struct ExtraOption {
    std::string name, help;
    std::string* value = nullptr;
    bool written = false;  // names a file that the program writes
};

/// Thrown where the command line ends the program: for a mistake in it, --help or --version.
struct CommandLineEnd {
    int status = 0;
    std::string text;
};

struct CommandLineSpec {
    std::string name, help;
    WindowSize size;
    int headless_frames = 100;
    /// --help lists them. Each is a flag too, unless another flag has its name: --NAME VALUE, and
    /// --NAME or --NAME=false for booleans.
    const Parameters* parameters = nullptr;
    std::vector<ExtraOption> extras;
    std::string keys;     // a sentence on the mouse and the keys of this program
    std::string version;  // of this program, for --version; empty: Firn's alone
    int devices = 1;      // that this program can use at once
};

/// The devices of a list such as `cpu,0`. Throws UserError where there are more than `most`, which
/// `what` names (`--device`), or where one has no name.
std::vector<std::string> listed_devices(const std::string& what, const std::string& list, int most);

/// Parses and checks the whole command line before the run. Throws CommandLineEnd with status 0
/// (--help, --version) or 2 (an unknown flag, a bad value, a file that cannot be written).
CommandLine parse_command_line(int argc, char** argv, const CommandLineSpec& spec);

}  // namespace firn
