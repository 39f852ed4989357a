// Reports on stderr and as files.
#include "compiler/frontend/report.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "compiler/driver/explain.h"
#include "compiler/frontend/environment.h"
#include "compiler/ir/text.h"
#include "compiler/kernel/kernel_code.h"
#include "compiler/passes/passes.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

/// Seconds that a run may take without a word: longer than one waits unasked for an answer on a
/// terminal.
constexpr double kPatience = 3;

void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

std::string titled(const std::string& title, const Graph& graph) {
    return "-- " + title + "\n" + print(graph, {.lines = true});
}

std::string rules_text(const std::vector<PassRun>& runs) {
    std::string out;
    for (const PassRun& run : runs) {
        out += "-- pass " + run.name + ": " + std::to_string(run.nodes_before) + " to " +
               std::to_string(run.nodes_after) + " nodes, " + std::to_string(run.milliseconds) +
               " ms\n";
        for (const auto& [rule, count] : run.fired)
            out += "   " + rule + " x " + std::to_string(count) + "\n";
    }
    return out;
}

void write_text(const std::filesystem::path& path, const std::string& content) {
    std::ofstream file(path);
    file << content;
    if (!file.flush())
        throw UserError("FIRN_DUMP_DIR: cannot write " + path.string() +
                        "; name a folder that can be written to");
}

std::string file_name(std::string text) {
    auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_';
    };
    std::replace_if(text.begin(), text.end(), std::not_fn(plain), '_');
    return text;
}

void dump(const std::filesystem::path& folder, const Graph& graph, const Program& program,
          size_t number) {
    std::error_code exists_already;
    std::filesystem::create_directories(folder, exists_already);
    std::string stem = std::to_string(number) + "_" + program.name;
    write_text(folder / file_name(stem + ".graph"), print(graph, {.lines = true}));
    write_text(folder / file_name(stem + ".explain"), explain(program));
    for (const KernelInfo& kernel : program.kernels) {
        write_text(folder / file_name(stem + "_" + kernel.name + ".comp"), kernel.glsl);
        if (kernel.code)
            write_text(folder / file_name(stem + "_" + kernel.name + ".kernel"),
                       print(*kernel.code));
    }
    std::set<int> written;  // equal kernels once, as the first dispatch has it
    for_dispatches(program.steps, [&](const DispatchStep& step) {
        if (!step.lowered || !written.insert(step.kernel).second) return;
        const std::string& name = program.kernels[static_cast<size_t>(step.kernel)].name;
        write_text(folder / file_name(stem + "_" + name + ".lowered.kernel"), print(*step.lowered));
    });
}

}  // namespace

void report_graph(SessionState& session, const Graph& graph) {
    if (session.debug < 3) return;
    PassOptions options;
    std::string last;
    options.dump = [&](const std::string& pass, const Graph& now) {
        last = titled("after " + pass, now);
        if (session.debug >= 4) say(last);
    };
    std::vector<PassRun> runs;
    say(titled("recorded", graph));
    run_passes(session.nodes, graph, options, &runs);
    if (session.debug == 3) say(last);
    if (session.debug >= 5) say(rules_text(runs));
}

void report_program(SessionState& session, const Graph& graph, const Program& program) {
    if (auto folder = environment("FIRN_DUMP_DIR")) dump(*folder, graph, program, ++session.dumps);
    if (session.debug < 1) return;
    char times[80];
    std::snprintf(times, sizeof times, ", compiled in %.1f ms, SPIR-V in %.1f ms\n",
                  program.compile_milliseconds, program.spirv_milliseconds);
    say("firn: " + program.name + ", " + std::to_string(program.kernels.size()) + " kernels" +
        times);
    for (const KernelInfo& kernel : program.kernels) {
        say("  " + kernel.name + "\n");
        if (session.debug >= 2) say(kernel.glsl + "\n");
    }
    if (session.debug >= 4) say(explain(program));
}

void report_run(SessionState& session, const Program* program, const SizeEnv& symbols) {
    if (session.debug < 1) return;
    session.executor->wait();
    if (program) {
        const ProgramStats did = stats(*program, symbols);
        say("firn: " + program->name + " ran: " + std::to_string(did.dispatches) + " dispatches, " +
            (did.indirect_dispatches ? "at most " : "") + std::to_string(did.operations) +
            " operations, " + std::to_string(did.bytes_read) + " bytes read, " +
            std::to_string(did.bytes_written) + " written\n");
    }
    for (const KernelTime& time : session.executor->take_kernel_times()) {
        char line[64];
        std::snprintf(line, sizeof line, "  %9.3f ms x %d  ", time.milliseconds, time.dispatches);
        say(line + time.name + "\n");
    }
}

void report_progress(SessionState& session) {
    if (session.debug < 1 && !isatty(STDERR_FILENO)) return;
    const auto report = [](const RunProgress& run) {
        char text[80];
        if (run.turns > 0)
            std::snprintf(text, sizeof text, "%.0f s: turn %lld of %lld", run.seconds,
                          static_cast<long long>(run.turn), static_cast<long long>(run.turns));
        else
            std::snprintf(text, sizeof text, "%.0f s: turn %lld", run.seconds,
                          static_cast<long long>(run.turn));
        say("firn: " + run.program + " has run for " + text +
            (run.line.empty() ? "" : " of the loop at " + run.line) + "\n");
    };
    session.executor->set_progress(report, kPatience);
}

}  // namespace firn
