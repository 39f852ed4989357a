// Compiling for a session, with the reports that the environment asks for.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "compiler/compile.h"
#include "compiler/frontend/environment.h"
#include "compiler/frontend/realize.h"
#include "compiler/frontend/record.h"
#include "compiler/ir/text.h"
#include "compiler/program/disk_cache.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

std::string kernels_text(const Program& program) {
    std::string out = "firn: " + program.name + ", " + std::to_string(program.kernels.size()) + " kernels\n";
    for (const KernelInfo& kernel : program.kernels) out += "  " + kernel.name + "\n";
    return out;
}

void print_debug(int level, const Graph& graph, const Program& program) {
    std::string out = kernels_text(program);
    if (level >= 3) out += print(graph, {.lines = true});
    if (level >= 2)
        for (const KernelInfo& kernel : program.kernels) out += "// " + kernel.name + "\n" + kernel.glsl + "\n";
    if (level >= 4) out += explain(program);
    std::fputs(out.c_str(), stderr);
}

void write_text(const std::filesystem::path& path, const std::string& content) {
    std::ofstream file(path);
    file << content;
    if (!file.flush())
        throw UserError("FIRN_DUMP_DIR: cannot write " + path.string() + "; name a folder that can be written to");
}

void dump(const std::filesystem::path& folder, const Graph& graph, const Program& program, size_t number) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    std::string stem = std::to_string(number) + "_" + program.name;
    std::replace_if(stem.begin(), stem.end(), [](char c) { return c == ':' || c == '/'; }, '_');
    write_text(folder / (stem + ".graph"), print(graph, {.lines = true}));
    write_text(folder / (stem + ".explain"), explain(program));
    for (const KernelInfo& kernel : program.kernels)
        write_text(folder / (stem + "_" + kernel.name + ".comp"), kernel.glsl);
}

}  // namespace

std::shared_ptr<const Program> compile_for(SessionState& session, const Graph& graph, CompileOptions options) {
    Executor& executor = executor_of(session);
    options.spirv = session.needs_spirv;
    options.cache_directory = default_cache_directory();
    std::shared_ptr<const Program> program = compile_graph(session.nodes, graph, executor.profile(), options);
    if (int level = environment_number("FIRN_DEBUG", 0)) print_debug(level, graph, *program);
    if (auto folder = environment("FIRN_DUMP_DIR")) dump(*folder, graph, *program, ++session.dumps);
    return program;
}

}  // namespace firn
