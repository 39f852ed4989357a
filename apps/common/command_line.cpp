// The command line of every demo, through CLI11.
#include "apps/common/command_line.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

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
               "this is no size; give width and height in pixels, such as 1280x720");
    if (size.width < 1 || size.height < 1 || size.width > 16384 || size.height > 16384) {
        refuse("--size", text, "each side must be from 1 to 16384 pixels");
    }
    return size;
}

/// By trying: before a run that may take hours, not after it.
void check_can_write(const std::string& flag, const std::string& path) {
    if (path.empty()) return;
    const std::filesystem::path file(path);
    const std::filesystem::path folder = file.parent_path().empty() ? "." : file.parent_path();
    if (!std::filesystem::is_directory(folder))
        refuse(flag, path, "there is no folder " + folder.string() + "; make it first");
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

void check_file(const std::string& flag, const std::string& path,
                const std::vector<std::string>& endings) {
    if (path.empty()) return;
    std::filesystem::path file(path);
    std::string known;
    bool good = false;
    for (const std::string& ending : endings) {
        good = good || file.extension() == ending;
        known += (known.empty() ? "" : " or ") + ending;
    }
    if (!good) refuse(flag, path, "the name must end in " + known);
    check_can_write(flag, path);
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
        "Parameters (--set NAME=VALUE, --preset; true or false also by --NAME, --NAME=false):\n";
    for (const Parameter& parameter : parameters.all()) {
        std::string line = "  " + parameter.name;
        line.resize(std::max<size_t>(line.size() + 1, 30), ' ');
        line += describe(parameter) + ", now " + text_of(parameter);
        if (!parameter.help.empty()) line += ": " + parameter.help;
        text += line + "\n";
    }
    return text;
}

/// What a flag can be called, and no flag of every demo.
bool can_be_flag(const CLI::App& app, const std::string& name) {
    auto fits = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; };
    return name.size() > 1 && std::isalpha(static_cast<unsigned char>(name[0])) &&
           std::all_of(name.begin(), name.end(), fits) && !app.get_option_no_throw("--" + name);
}

/// A flag for each parameter that is true or false; their options, with the parameter's name.
std::vector<std::pair<std::string, CLI::Option*>> add_parameter_flags(
    CLI::App& app, const Parameters& parameters) {
    std::vector<std::pair<std::string, CLI::Option*>> flags;
    for (const Parameter& parameter : parameters.all()) {
        if (!std::holds_alternative<bool*>(parameter.variable)) continue;
        if (!can_be_flag(app, parameter.name)) continue;
        // No group: the footer lists it with the other parameters.
        flags.emplace_back(parameter.name, app.add_flag("--" + parameter.name)->group(""));
    }
    return flags;
}

constexpr const char* kKeys =
    "\nKeys: space pauses, N makes one frame, R resets, S writes a screenshot, H hides the panel, "
    "Escape quits.";

}  // namespace

CommandLine parse_command_line(int argc, char** argv, const CommandLineSpec& spec) {
    CommandLine line;
    line.size = spec.size;
    std::string size;
    std::vector<std::string> sets;
    CLI::App app(spec.help, spec.name);
    app.add_flag("--list-devices", line.list_devices,
                 "list the Vulkan devices with their rates and end");
    app.add_option("--device", line.device, "number or part of the name of the device to use");
    app.add_option("--size", size, "size of the window or picture, such as 1280x720");
    auto* frames = app.add_option("--frames", line.frames, "end after so many frames")
                       ->check(CLI::Range(1, 1 << 30));
    app.add_flag("--headless", line.headless, "open no window");
    app.add_option("--out", line.out,
                   spec.linear
                       ? "write the last frame (.png; .exr: linear floats) or all of them (.mp4)"
                       : "write the last frame (.png) or all of them (.mp4)");
    app.add_flag("--gui", line.show_gui, "draw the panel in what --out writes");
    app.add_option("--seed", line.seed, "seed of everything random");
    app.add_option("--set", sets, "set a parameter: NAME=VALUE; may be given several times")
        ->take_all();
    app.add_option("--preset", line.preset, "set parameters from a JSON file")
        ->check(CLI::ExistingFile);
    app.add_flag("--validate", line.validate,
                 "run with the Vulkan validation layers; a message is an error");
    app.add_option(
        "--profile", line.profile,
        "write what host and device do, dispatch by dispatch, as a Chrome trace (.json)");
    app.add_flag("--print-widgets", line.print_widgets, "print where the widgets are, for tests");
    for (const ExtraOption& extra : spec.extras)
        app.add_option("--" + extra.name, *extra.value, extra.help);
    auto flags = add_parameter_flags(app, *spec.parameters);
    app.footer(parameter_help(*spec.parameters) + kKeys +
               (spec.keys.empty() ? "" : "\n" + spec.keys));
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        throw CommandLineEnd{0, app.help()};
    } catch (const CLI::ParseError& error) {
        throw CommandLineEnd{
            2, std::string(error.what()) + "; " + spec.name + " --help lists all flags"};
    }
    if (!size.empty()) line.size = parse_window_size(size);
    for (const auto& [name, flag] : flags)
        if (flag->count() > 0) line.sets.emplace_back(name, flag->as<std::string>());
    for (const std::string& text : sets) line.sets.push_back(parse_set(text));
    std::vector<std::string> endings{".png", ".mp4"};
    if (spec.linear) endings.push_back(".exr");
    check_file("--out", line.out, endings);
    check_file("--profile", line.profile, {".json"});
    for (const ExtraOption& extra : spec.extras)
        if (extra.written) check_can_write("--" + extra.name, *extra.value);
    if (line.headless && frames->count() == 0) line.frames = spec.headless_frames;
    return line;
}

}  // namespace firn
