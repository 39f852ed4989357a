// The command line of the tool, as plain data.
#pragma once
#include <string>
#include <vector>

namespace firn::tool {

/// The commands of the tool.
enum class Command : unsigned char { Inspect, Run, Bench, Export };

struct ToolOptions {
    Command command = Command::Inspect;
    std::string file;
    std::vector<std::string> sizes, args, sets, outs, feeds;  // as typed
    std::string device;
    int frames = 1, rounds = 30;
    std::string language, folder;
    int form = -1;  // -1: the command chooses
};

/// The command line ended the program: for a mistake in it, --help or --version.
struct ToolEnd {
    int status = 0;
    std::string text;
};

/// Throws ToolEnd with status 0 (--help, --version) or 2 (a mistake).
ToolOptions parse_tool_options(int argc, char** argv);

}  // namespace firn::tool
