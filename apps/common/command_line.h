// The command line of every demo, as plain data.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/window/parameters.h"
#include "engine/window/view_window.h"

namespace firn {

struct CommandLine {
    bool list_devices = false, headless = false, validate = false, print_widgets = false,
         show_gui = false;
    std::string device, out, preset, profile;
    WindowSize size;
    int frames = 0;  // 0: until the window is closed
    uint32_t seed = 1;
    /// What --set and the parameters' own flags ask for: flags first, then --set in order.
    std::vector<std::pair<std::string, std::string>> sets;
};

/// A flag of one demo alone.
struct ExtraOption {
    std::string name, help;
    std::string* value = nullptr;
    bool written = false;  // names a file that the program writes
};

/// What a person typed is wrong, or a help page is all that was asked for.
struct CommandLineEnd {
    int status = 0;
    std::string text;
};

struct CommandLineSpec {
    std::string name, help;
    WindowSize size;
    int headless_frames = 100;
    /// Listed by --help; one that is true or false is a flag too: --NAME, --NAME=false.
    const Parameters* parameters = nullptr;
    std::vector<ExtraOption> extras;
    bool linear = false;  // --out takes .exr
    std::string keys;     // a sentence on the mouse and the keys of this demo
};

/// Throws CommandLineEnd with status 0 (--help) or 2 (an unknown flag, a bad value).
CommandLine parse_command_line(int argc, char** argv, const CommandLineSpec& spec);

}  // namespace firn
