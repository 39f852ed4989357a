// The command line of the tool, through CLI11.
#include "apps/tool/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace firn::tool {
namespace {

void add_file(CLI::App& app, ToolOptions& options) {
    app.add_option("FILE", options.file, "saved program, a file of save_program (.firn)")
        ->required();
}

/// An option that may be given several times, with one value each time.
void add_list(CLI::App& app, const std::string& name, std::vector<std::string>& values,
              const std::string& help) {
    app.add_option(name, values, help + "; may be given several times")
        ->take_all()
        ->allow_extra_args(false);
}

void add_sizes(CLI::App& app, ToolOptions& options, const std::string& help) {
    add_list(app, "--size", options.sizes, help);
}

void add_call(CLI::App& app, ToolOptions& options) {
    add_list(app, "--arg", options.args,
             "argument, by its name or number: NAME=FILE.npy for a tensor, NAME=NUMBER for a "
             "number");
    add_list(app, "--set", options.sets, "parameter: NAME=VALUE");
    app.add_option("--device", options.device,
                   "Vulkan device, by its number or a part of its name; cpu: native code of the "
                   "processor. Default: FIRN_DEVICE, or the best device that the file has a "
                   "program for");
}

void add_inspect(CLI::App& all, ToolOptions& options) {
    CLI::App& app = *all.add_subcommand("inspect", "print what a saved program is and needs");
    add_file(app, options);
    add_sizes(app, options,
              "size for the numbers beside formulas: n=512; default: the size that the program "
              "was saved with");
}

void add_run(CLI::App& all, ToolOptions& options) {
    CLI::App& app = *all.add_subcommand("run", "run a saved program on files");
    add_file(app, options);
    add_call(app, options);
    add_sizes(app, options, "size: n=512; tensors that are not given then hold zeros of this size");
    app.add_option("--frames", options.frames, "number of calls, one after the other")
        ->check(CLI::Range(1, 1 << 30));
    add_list(app, "--feed", options.feeds,
             "result that becomes an argument of the next call: RESULT:ARGUMENT, by numbers or "
             "names, as in 0:u");
    add_list(app, "--out", options.outs,
             "file for a result of the last call: FILE.npy for result 0, NUMBER=FILE.npy or "
             "NAME=FILE.npy for another");
    app.footer(
        "With --frames and without --feed, a result becomes the tensor argument of its name in the "
        "next call.\nWhere none has such a name, result k becomes the k-th tensor among the "
        "arguments, if its type and\nshape are those of this argument; other results are not "
        "used. The program says which are. Elements of bf16, which numpy lacks, are f32 in "
        "files.");
}

void add_bench(CLI::App& all, ToolOptions& options) {
    CLI::App& app = *all.add_subcommand("bench", "time a saved program and its kernels");
    add_file(app, options);
    add_call(app, options);
    add_sizes(app, options, "size: n=512; default: the size that the program was saved with");
    app.add_option("--rounds", options.rounds, "number of timed calls, now 30")
        ->check(CLI::Range(1, 1 << 20));
    app.footer(
        "Times are medians. Without --device, a Vulkan device and native code are both timed, if "
        "the file has a\nprogram for them. Tensors that are not given hold zeros: loops whose end "
        "depends on data may run\nshorter than on real data.");
}

void add_export(CLI::App& all, ToolOptions& options) {
    CLI::App& app = *all.add_subcommand(
        "export",
        "write the kernels of a saved program, and program.json, which says how to "
        "call them");
    add_file(app, options);
    app.add_option("--to", options.language, "language: spirv, glsl, hlsl or msl")
        ->required()
        ->check(CLI::IsMember({"spirv", "glsl", "hlsl", "msl"}));
    app.add_option("DIR", options.folder, "folder for the files; it is made if it is not there")
        ->required();
    app.add_option("--form", options.form,
                   "number of the program in the file, as inspect lists them; default: the first "
                   "one for Vulkan and all sizes")
        ->check(CLI::Range(0, 1 << 20));
    app.footer(
        "A kernel that the language cannot express is reported, the others are written, and the "
        "exit status is 1.");
}

std::string help_of(const CLI::App& app) {
    for (const CLI::App* command : app.get_subcommands()) return command->help("firn");
    return app.help();
}

}  // namespace

ToolOptions parse_tool_options(int argc, char** argv) {
    ToolOptions options;
    CLI::App app("Looks at saved programs of Firn, runs, times and exports them.", "firn");
    app.set_version_flag("--version", "firn " FIRN_VERSION "\n", "print the version, and exit");
    app.require_subcommand(1);
    app.footer("firn COMMAND --help lists the options of a command.");
    add_inspect(app, options);
    add_run(app, options);
    add_bench(app, options);
    add_export(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        throw ToolEnd{0, help_of(app)};
    } catch (const CLI::CallForVersion& version) {
        throw ToolEnd{0, version.what()};
    } catch (const CLI::ParseError& error) {
        std::string command;
        for (const CLI::App* each : app.get_subcommands()) command = " " + each->get_name();
        throw ToolEnd{2,
                      std::string(error.what()) + "; firn" + command + " --help lists all options"};
    }
    const std::string name = app.get_subcommands().at(0)->get_name();
    options.command = name == "inspect" ? Command::Inspect
                      : name == "run"   ? Command::Run
                      : name == "bench" ? Command::Bench
                                        : Command::Export;
    return options;
}

}  // namespace firn::tool
