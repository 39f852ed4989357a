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

#include "compiler/base/error.h"
#include "compiler/driver/explain.h"
#include "compiler/frontend/environment.h"
#include "compiler/ir/text.h"
#include "compiler/kernel/kernel_code.h"
#include "compiler/target/target.h"

namespace firn {
namespace {

/// Seconds after which a run reports its progress on a terminal.
constexpr double kFirstReport = 3;

void say(const std::string& text) { std::fputs(text.c_str(), stderr); }

/// A pass that has changed nothing is one line.
void say_passes(const std::vector<CompileTrace::Pass>& passes, const std::string& of) {
    const std::string* before = nullptr;
    for (const CompileTrace::Pass& pass : passes) {
        const std::string title =
            "-- " + (pass.name == "recorded" ? pass.name : "after " + pass.name) + of;
        const bool same = before && *before == pass.text;
        say(same ? title + ": the same\n" : title + "\n" + pass.text);
        before = &pass.text;
    }
}

void say_cost(const CompileTrace::Pass& pass, const std::string& of) {
    say("-- pass " + pass.name + of + ": " + std::to_string(pass.nodes_before) + " to " +
        std::to_string(pass.nodes_after) + " nodes, " + std::to_string(pass.milliseconds) +
        " ms\n");
    for (const auto& [rule, count] : pass.fired)
        say("   " + rule + " x " + std::to_string(count) + "\n");
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

/// `01_fuse_loops`: files of one program or kernel stand in the order of its passes.
std::string numbered(size_t k, const std::string& pass) {
    return (k < 10 ? "0" : "") + std::to_string(k) + "_" + pass;
}

void dump_trace(const std::filesystem::path& folder, const std::string& stem,
                const CompileTrace& trace) {
    for (size_t k = 1; k < trace.graph.size(); ++k)
        if (trace.graph[k].text != trace.graph[k - 1].text)
            write_text(folder / file_name(stem + "." + numbered(k, trace.graph[k].name) + ".graph"),
                       trace.graph[k].text);
    for (const CompileTrace::Kernel& kernel : trace.kernels)
        for (size_t k = 0; k < kernel.passes.size(); ++k) {
            if (k > 0 && kernel.passes[k].text == kernel.passes[k - 1].text) continue;
            const std::string pass = numbered(k, kernel.passes[k].name);
            write_text(folder / file_name(stem + "_" + kernel.name + "." + pass + ".kernel"),
                       kernel.passes[k].text);
        }
}

void dump(const std::filesystem::path& folder, const Graph& graph, const Program& program,
          const CompileTrace* trace, size_t number) {
    std::error_code exists_already;
    std::filesystem::create_directories(folder, exists_already);
    std::string stem = std::to_string(number) + "_" + program.name;
    write_text(folder / file_name(stem + ".graph"), print(graph, {.lines = true}));
    write_text(folder / file_name(stem + ".explain"), explain(program));
    if (trace) dump_trace(folder, stem, *trace);
    for (const KernelInfo& kernel : program.kernels) {
        write_text(folder / file_name(stem + "_" + kernel.name + '.' +
                                      target_of(program.profile).extension),
                   kernel.artefact.text);
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

std::shared_ptr<CompileTrace> trace_for(const SessionState& session) {
    const bool wanted = session.debug >= 3 || environment("FIRN_DUMP_DIR");
    return wanted ? std::make_shared<CompileTrace>() : nullptr;
}

void report_trace(const SessionState& session, const CompileTrace* trace) {
    if (session.debug < 3 || !trace || trace->graph.empty()) return;
    if (session.debug == 3) say_passes({trace->graph.front(), trace->graph.back()}, "");
    if (session.debug < 4) return;
    say_passes(trace->graph, "");
    for (const CompileTrace::Kernel& kernel : trace->kernels)
        say_passes(kernel.passes, ", kernel " + kernel.name);
    if (session.debug < 5) return;
    for (const CompileTrace::Pass& pass : trace->graph) say_cost(pass, "");
    for (const CompileTrace::Kernel& kernel : trace->kernels)
        for (const CompileTrace::Pass& pass : kernel.passes)
            say_cost(pass, ", kernel " + kernel.name);
}

void report_program(SessionState& session, const Graph& graph, const Program& program,
                    const CompileTrace* trace) {
    if (auto folder = environment("FIRN_DUMP_DIR"))
        dump(*folder, graph, program, trace, ++session.dumps);
    report_trace(session, trace);
    if (session.debug < 1) return;
    char times[80];
    std::snprintf(times, sizeof times, ", compiled in %.1f ms, built in %.1f ms\n",
                  program.compile_milliseconds, program.build_milliseconds);
    say("firn: " + program.name + ", " + std::to_string(program.kernels.size()) + " kernels" +
        times);
    for (const KernelInfo& kernel : program.kernels) {
        say("  " + kernel.name + "\n");
        if (session.debug >= 2) say(kernel.artefact.text + "\n");
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
        if (run.iterations > 0)
            std::snprintf(text, sizeof text, "%.0f s: iteration %lld of %lld", run.seconds,
                          static_cast<long long>(run.iteration),
                          static_cast<long long>(run.iterations));
        else
            std::snprintf(text, sizeof text, "%.0f s: iteration %lld", run.seconds,
                          static_cast<long long>(run.iteration));
        say("firn: " + run.program + " has run for " + text +
            (run.line.empty() ? "" : " of the loop at " + run.line) + "\n");
    };
    session.executor->set_progress(report, kFirstReport);
}

}  // namespace firn
