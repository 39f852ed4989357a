// The tool `firn`: inspects, runs, times and exports saved programs.
#include <cstdio>
#include <exception>
#include <new>

#include "apps/tool/command_line.h"
#include "apps/tool/commands.h"
#include "compiler/base/error.h"

namespace firn::tool {
namespace {

int command_of(const ToolOptions& options) {
    switch (options.command) {
        case Command::Inspect: return inspect_file(options);
        case Command::Run: return run_file(options);
        case Command::Bench: return bench_file(options);
        case Command::Export: return export_file(options);
    }
    return 2;
}

int main_of(int argc, char** argv) {
    try {
        return command_of(parse_tool_options(argc, argv));
    } catch (const ToolEnd& end) {
        std::fputs((end.status ? "firn: " + end.text + "\n" : end.text).c_str(),
                   end.status ? stderr : stdout);
        return end.status;
    } catch (const UserError& error) {
        std::fprintf(stderr, "firn: %s\n", error.what());
        return 2;
    } catch (const std::bad_alloc&) {
        std::fputs("firn: the memory of this machine does not hold tensors of these sizes\n",
                   stderr);
        return 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "firn: %s\n", error.what());
        return 1;
    }
}

}  // namespace
}  // namespace firn::tool

int main(int argc, char** argv) { return firn::tool::main_of(argc, argv); }
