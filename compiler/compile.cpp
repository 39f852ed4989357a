// The compiler as one function: Graph and DeviceProfile in, Program out.
#include "compiler/compile.h"

#include <chrono>
#include <iomanip>
#include <sstream>

#include "compiler/codegen/spirv.h"
#include "compiler/lower/kernel_code.h"
#include "compiler/passes/passes.h"
#include "compiler/plan.h"
#include "compiler/program/parallel.h"
#include "compiler/schedule/bound_loops.h"
#include "compiler/schedule/open_loops.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/split_reductions.h"
#include "compiler/stage_timer.h"

namespace firn {
namespace {

/// Every kernel's SPIR-V, on all cores.
void compile_kernels(Program& program, const CompileOptions& options) {
    SpirvOptions spirv;
    spirv.cache_directory = options.cache_directory;
    for_each_in_parallel(program.kernels.size(), [&](size_t k) {
        KernelInfo& kernel = program.kernels[k];
        kernel.spirv = glsl_to_spirv(kernel.glsl, kernel.name, spirv);
        if (options.validate) validate_spirv(kernel.spirv, kernel.name);
    });
}

std::string microseconds(double seconds) {
    std::ostringstream out;
    out << std::fixed << std::setprecision(1) << seconds * 1e6 << " us";
    return out.str();
}

}  // namespace

namespace {

/// What is left of the graph's own work once the profile is known.
Graph prepare(NodeTable& table, Graph graph, const DeviceProfile& profile, const SymbolFacts& facts) {
    graph = split_reductions(table, graph, profile, facts);
    graph = bound_loops(table, graph, profile, facts);
    // Opening a loop adds a reduction: whether any element goes on.
    if (const Graph opened = open_loops(table, graph, facts); opened.results != graph.results)
        graph = split_reductions(table, opened, profile, facts);
    const RegionFacts regions = region_facts(graph);
    auto steps = regions.host_loops;
    for (const Ref& node : regions.order)
        if (node->op == Op::Loop && node->as<LoopAttr>().by_hand()) steps.insert(node.get());
    return steps.empty() ? graph : run_both_sides(table, graph, steps);
}

template <class F>
auto timed(double& sum, F stage) {
    const StageTimer timer(sum);
    return stage();
}

}  // namespace

std::shared_ptr<const Program> compile_graph(NodeTable& table, const Graph& graph,
                                             const DeviceProfile& profile,
                                             const CompileOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    auto milliseconds = [](auto since) {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since).count();
    };
    CompileTimes times;
    const Graph simplified = timed(times.passes, [&] { return run_passes(table, graph); });
    const Graph prepared =
        timed(times.schedule, [&] { return prepare(table, simplified, profile, options.facts); });
    const auto planned = [&](bool nested) {
        const Schedule schedule = timed(times.schedule, [&] { return make_schedule(prepared, profile, options.facts, nested); });
        return timed(times.plan, [&] { return make_plan(prepared, schedule, profile, options, times); });
    };
    std::shared_ptr<Program> program;
    try {
        program = planned(true);
    } catch (const TooManyTurns&) {
        program = planned(false);
    }
    times.plan -= times.lower + times.map + times.emit;
    program->compile_milliseconds = milliseconds(start);
    const auto emitted = std::chrono::steady_clock::now();
    if (options.spirv) compile_kernels(*program, options);
    program->spirv_milliseconds = times.spirv = milliseconds(emitted);
    if (options.times) *options.times = times;
    return program;
}

std::string explain(const Program& program, const SizeEnv& env) {
    std::ostringstream out;
    out << "program " << program.name << " for " << program.profile.name << ": " << program.kernels.size()
        << " kernels\n";
    out << std::fixed << std::setprecision(1);
    for (const VerdictInfo& v : program.verdicts) {
        out << "  " << v.verdict << ": " << v.reason << "  " << v.value;
        if (v.inline_seconds > 0 || v.materialise_seconds > 0)
            out << "  inline " << v.inline_seconds * 1e6 << " us, "
                << (v.stage_seconds > 0 ? "stage " + microseconds(v.stage_seconds) + ", " : std::string())
                << "materialise " << v.materialise_seconds * 1e6 << " us";
        if (!v.lines.empty()) out << "  (" << v.lines << ")";
        out << "\n";
    }
    for (const KernelInfo& k : program.kernels) {
        out << "  kernel " << k.name << ": group " << k.group_size[0] << "x" << k.group_size[1] << "x"
            << k.group_size[2] << ", " << k.bindings.size() << " bindings, back edges "
            << (k.back_edges < 0 ? "unknown" : std::to_string(k.back_edges));
        for (const Split& s : k.code ? k.code->schedule : std::vector<Split>{})
            out << ", " << name(s.kind) << (s.factor ? " " + std::to_string(s.factor) : "");
        out << "\n";
    }
    for (size_t k = 0; k < program.results.size(); ++k)
        for (const ArgumentInfo& argument : program.arguments)
            if (!argument.scalar && argument.buffer == program.results[k].buffer)
                out << "  result " << k << " is written over " << argument.name << ", which was given away\n";
    if (!env.empty()) {
        const ProgramStats s = stats(program, env);
        out << "  " << s.dispatches << " dispatches";
        if (s.indirect_dispatches) out << " (" << s.indirect_dispatches << " of them indirect)";
        out << ", " << s.operations << " operations, " << s.bytes_read
            << " bytes read, " << s.bytes_written << " written, " << s.barriers << " barriers, "
            << s.peak_bytes << " bytes of temporaries\n";
    }
    return out.str();
}

}  // namespace firn
