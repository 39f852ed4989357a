// The command line of a program with a window, through CLI11.
#include "engine/app/command_line.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "compiler/base/error.h"

namespace firn {
namespace {

[[noreturn]] void refuse(const std::string& flag, const std::string& value,
                         const std::string& why) {
    throw CommandLineEnd{2, flag + " " + value + ": " + why};
}

WindowSize parse_window_size(const std::string& text) {
    WindowSize size{0, 0};
    const char* end = text.data() + text.size();
    auto [middle, first] = std::from_chars(text.data(), end, size.width);
    bool good = first == std::errc{} && middle != end && *middle == 'x';
    if (good) {
        auto [stop, second] = std::from_chars(middle + 1, end, size.height);
        good = second == std::errc{} && stop == end;
    }
    if (!good)
        refuse("--size", text,
               "this is not a size; give width and height in pixels, such as 1280x720");
    if (size.width < 1 || size.height < 1 || size.width > 16384 || size.height > 16384) {
        refuse("--size", text, "each side must be from 1 to 16384 pixels");
    }
    return size;
}

/// Tests by writing, so that a run that takes hours does not fail at its end.
void check_can_write(const std::string& flag, const std::string& path) {
    if (path.empty()) return;
    const std::filesystem::path file(path);
    const std::filesystem::path folder = file.parent_path().empty() ? "." : file.parent_path();
    if (!std::filesystem::is_directory(folder))
        refuse(flag, path, "there is no such folder: " + folder.string() + "; create it first");
    if (std::filesystem::is_directory(file))
        refuse(flag, path, "this is a folder; name a file in it");
    const std::string trial = path + "." + std::to_string(getpid()) + ".part";
    const int handle = open(trial.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (handle < 0)
        refuse(flag, path,
               "no file can be written in " + folder.string() + " (" + std::strerror(errno) +
                   "); name another folder");
    close(handle);
    unlink(trial.c_str());
}

/// The folder into which programs are dumped: made where it is not there.
void check_folder(const std::string& flag, const std::string& path) {
    if (path.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (!std::filesystem::is_directory(path))
        refuse(flag, path, "this is not a folder, and it cannot be created; name another");
    check_can_write(flag, (std::filesystem::path(path) / "program").string());
}

void check_json(const std::string& flag, const std::string& path) {
    if (!path.empty() && std::filesystem::path(path).extension() != ".json")
        refuse(flag, path, "the name must end in .json");
    check_can_write(flag, path);
}

OutputFile parse_out(const std::string& path, const CLI::Option& every) {
    OutputFile file;
    try {
        file = output_file(path);
    } catch (const UserError& error) {
        refuse("--out", path, error.what());
    }
    check_can_write("--out", file.sequence ? frame_path(file, 1) : path);
    if (every.count() > 0 && !file.takes_all_frames())
        refuse("--every", every.as<std::string>(),
               "--every needs an --out that saves all frames: a video (.mp4, .gif) or a sequence "
               "(frame_%04d.png)");
    return file;
}

std::pair<std::string, std::string> parse_set(const std::string& text) {
    size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        refuse("--set", text, "give a parameter and its value, such as --set dt=0.1");
    }
    return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string parameter_help(const Parameters& parameters) {
    if (parameters.all().empty()) return "";
    std::string text =
        "Parameters, set by --NAME VALUE, --set NAME=VALUE or --preset (booleans also by --NAME "
        "and --NAME=false):\n";
    for (const Parameter& parameter : parameters.all()) {
        std::string line = "  " + parameter.name;
        line.resize(std::max<size_t>(line.size() + 1, 30), ' ');
        line += describe(parameter) + ", default " + text_of(parameter);
        if (!parameter.help.empty()) line += ": " + parameter.help;
        text += line + "\n";
    }
    return text;
}

/// Returns whether a flag can have this name, and no other flag has it.
bool can_be_flag(const CLI::App& app, const std::string& name) {
    auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; };
    return name.size() > 1 && std::isalpha(static_cast<unsigned char>(name[0])) &&
           std::all_of(name.begin(), name.end(), fits) && !app.get_option_no_throw("--" + name);
}

/// A flag for each parameter; their options, with the parameter's name.
std::vector<std::pair<std::string, CLI::Option*>> add_parameter_flags(
    CLI::App& app, const Parameters& parameters) {
    std::vector<std::pair<std::string, CLI::Option*>> flags;
    for (const Parameter& parameter : parameters.all()) {
        const std::string flag = "--" + parameter.name;
        if (!can_be_flag(app, parameter.name)) continue;
        // The flag is in no group, because the footer lists it with the other parameters.
        flags.emplace_back(parameter.name, (std::holds_alternative<bool*>(parameter.variable)
                                                ? app.add_flag(flag)
                                                : app.add_option(flag))
                                               ->group(""));
    }
    return flags;
}

/// The arguments as typed, before they are parsed.
struct Typed {
    std::string device, size, out;
    std::vector<std::string> sets;
    CLI::Option *frames = nullptr, *every = nullptr;
};

void take_devices(CommandLine& line, const std::string& list, int most) {
    try {
        line.other_devices = listed_devices("--device", list, most);
    } catch (const UserError& error) {
        throw CommandLineEnd{2, error.what()};
    }
    line.device = line.other_devices.front();
    line.other_devices.erase(line.other_devices.begin());
}

void add_window_flags(CLI::App& app, CommandLine& line, Typed& typed, int devices) {
    app.add_flag("--list-devices", line.list_devices,
                 "print the devices with their rates, and exit");
    app.add_option("--device", typed.device,
                   "Vulkan device to use, by its number or a part of its name; cpu: native code of "
                   "the processor" +
                       (devices > 1 ? "; up to " + std::to_string(devices) +
                                          " at once with commas between them, as in cpu,0"
                                    : std::string()));
    app.add_option("--size", typed.size, "size of the window or picture, such as 1280x720");
    app.add_option("--scale", line.scale, "UI scale; default: the display's")
        ->check(CLI::Range(0.25, 8.0));
    app.add_flag("--fullscreen", line.fullscreen, "open the window in full screen");
    app.add_flag("--light", line.light, "light theme for the panel");
    app.add_flag("--forget", line.forget, "ignore the saved panel layout, and do not save it");
    app.add_flag("--headless", line.headless, "run without a window");
    typed.frames =
        app.add_option("--frames", line.frames, "number of frames after which the program ends")
            ->check(CLI::Range(1, 1 << 30));
    app.add_option("--fps-limit", line.fps_limit,
                   "maximum frames per second, default 60; 0: no limit")
        ->check(CLI::Range(0.0, 1e6));
    app.add_flag("--vsync", line.vsync, "vertical sync (default on; --vsync=false turns it off)");
    app.add_option("--seed", line.seed, "seed of all random numbers");
}

void add_file_flags(CLI::App& app, CommandLine& line, Typed& typed) {
    app.add_option(
        "--out", typed.out,
        "file for the last frame (.png, .jpg; its numbers as colours: .exr, .hdr; as an array: "
        ".npy), or for all frames (frame_%04d.png, .mp4, .gif)");
    typed.every =
        app.add_option("--every", line.every, "save only every Nth frame of a video or sequence")
            ->check(CLI::Range(1, 1 << 30));
    app.add_option("--video-rate", line.video_rate,
                   "frames per second of a video, now 60 (a GIF: at most 50)")
        ->check(CLI::Range(0.1, 240.0));
    app.add_flag("--gui", line.show_gui, "include the panel in the pictures that --out saves");
    app.add_option("--set", typed.sets, "set a parameter: NAME=VALUE; may be given several times")
        ->take_all();
    app.add_option("--preset", line.preset, "JSON file to load parameters from")
        ->check(CLI::ExistingFile);
    app.add_option("--save-preset", line.save_preset,
                   "JSON file for the parameters at the end of the run");
    app.add_flag("--validate", line.validate,
                 "run with the Vulkan validation layers; any message of theirs is an error");
    app.add_option("--profile", line.profile,
                   "file for a Chrome trace (.json) of host and device, dispatch by dispatch");
    app.add_option(
        "--dump", line.dump,
        "folder for the graphs, kernels, GLSL and fusion decisions of every compiled program");
    app.add_flag("--quiet", line.quiet, "print nothing but errors");
    app.add_flag("--inspect", line.inspect, "open the inspector, as F2 does");
    app.add_flag("--print-widgets", line.print_widgets,
                 "print the positions of all widgets (for tests)");
}

constexpr const char* kKeys = "\nKeys: ? lists all keys, Space pauses, Escape quits.";

std::string version_text(const CommandLineSpec& spec) {
    return spec.name + (spec.version.empty() ? "" : " " + spec.version) +
           " (Firn " FIRN_VERSION ")\n";
}

}  // namespace

std::vector<std::string> listed_devices(const std::string& what, const std::string& list,
                                        int most) {
    std::vector<std::string> devices;
    for (size_t at = 0; at <= list.size();) {
        const size_t end = std::min(list.find(',', at), list.size());
        devices.push_back(list.substr(at, end - at));
        at = end + 1;
        if (devices.back().empty())
            throw UserError(what + " " + list +
                            ": a device between the commas has no name; say "
                            "as in cpu,0");
    }
    if (devices.size() > static_cast<size_t>(most))
        throw UserError(what + " " + list + ": " + std::to_string(devices.size()) +
                        " devices are listed, and this program uses " +
                        (most == 1 ? "one; name one" : "at most " + std::to_string(most)));
    return devices;
}

CommandLine parse_command_line(int argc, char** argv, const CommandLineSpec& spec) {
    CommandLine line;
    line.size = spec.size;
    Typed typed;
    CLI::App app(spec.help, spec.name);
    app.set_version_flag("--version", version_text(spec), "print the versions, and exit");
    add_window_flags(app, line, typed, spec.devices);
    add_file_flags(app, line, typed);
    for (const ExtraOption& extra : spec.extras)
        app.add_option("--" + extra.name, *extra.value, extra.help);
    auto flags = add_parameter_flags(app, *spec.parameters);
    app.footer(parameter_help(*spec.parameters) + kKeys +
               (spec.keys.empty() ? "" : "\n" + spec.keys));
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        throw CommandLineEnd{0, app.help()};
    } catch (const CLI::CallForVersion& version) {
        throw CommandLineEnd{0, version.what()};
    } catch (const CLI::ParseError& error) {
        throw CommandLineEnd{
            2, std::string(error.what()) + "; " + spec.name + " --help lists all flags"};
    }
    if (!typed.device.empty()) take_devices(line, typed.device, spec.devices);
    if (!typed.size.empty()) line.size = parse_window_size(typed.size);
    for (const auto& [name, flag] : flags)
        if (flag->count() > 0) line.sets.emplace_back(name, flag->as<std::string>());
    for (const std::string& text : typed.sets) line.sets.push_back(parse_set(text));
    line.out = parse_out(typed.out, *typed.every);
    check_json("--profile", line.profile);
    check_json("--save-preset", line.save_preset);
    check_folder("--dump", line.dump);
    for (const ExtraOption& extra : spec.extras)
        if (extra.written) check_can_write("--" + extra.name, *extra.value);
    if (line.headless && typed.frames->count() == 0) line.frames = spec.headless_frames;
    return line;
}

}  // namespace firn
