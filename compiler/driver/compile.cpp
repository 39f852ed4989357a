// The compiler as one function: Graph and DeviceProfile in, Program out.
#include "compiler/driver/compile.h"

#include <chrono>
#include <iomanip>
#include <sstream>

#include "compiler/codegen/spirv.h"
#include "compiler/kernel/kernel_code.h"
#include "compiler/passes/passes.h"
#include "compiler/plan/plan.h"
#include "compiler/plan/plan_kernel.h"
#include "compiler/plan/tuned.h"
#include "compiler/program/parallel.h"
#include "compiler/program/stage_timer.h"
#include "compiler/schedule/bound_loops.h"
#include "compiler/schedule/check_sizes.h"
#include "compiler/schedule/crowded_loops.h"
#include "compiler/schedule/open_loops.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/split_reductions.h"

namespace firn {

void compile_kernel(KernelInfo& kernel, const CompileOptions& options) {
    SpirvOptions spirv;
    spirv.cache_directory = options.cache_directory;
    kernel.spirv = glsl_to_spirv(kernel.glsl, kernel.name, spirv);
    if (options.validate) validate_spirv(kernel.spirv, kernel.name);
}

namespace {

void check_stop(const CompileOptions& options) {
    if (options.stop && *options.stop) throw Stopped();
}

/// Every kernel's SPIR-V.
void compile_kernels(Program& program, const CompileOptions& options) {
    const auto one = [&](size_t k) {
        check_stop(options);
        compile_kernel(program.kernels[k], options);
    };
    if (options.all_cores) return for_each_in_parallel(program.kernels.size(), one);
    for (size_t k = 0; k < program.kernels.size(); ++k) one(k);
}

/// What is left of the graph's own work once the profile is known.
Graph prepare(NodeTable& table, Graph graph, const DeviceProfile& profile,
              const SymbolFacts& facts) {
    graph = split_reductions(table, graph, profile, facts);
    graph = host_crowded_loops(table, graph, profile, facts);
    graph = bound_loops(table, graph, profile, facts);
    graph =
        host_crowded_loops(table, graph, profile, facts);  // chunks carry their values in memory
    // Opening a loop adds a reduction: whether any element goes on.
    if (const Graph opened = open_loops(table, graph, facts); opened.results != graph.results)
        graph = split_reductions(table, opened, profile, facts);
    const RegionFacts regions = region_facts(graph);
    auto steps = regions.host_loops;
    for (const Ref& node : regions.order)
        if (node->op == Op::Loop && node->as<LoopAttr>().by_hand()) steps.insert(node.get());
    return steps.empty() ? graph : run_both_sides(table, graph, steps);
}

/// Shapes as the caller wrote them: the variant's facts say that they are the same.
void declare_shapes(Program& program, const Graph& graph) {
    for (size_t k = 0; k < graph.args.size(); ++k)
        program.arguments[k].shape = largest(graph.args[k]->shape);
    const size_t own = program.results.size() - graph.results.size();
    for (size_t k = 0; k < graph.results.size(); ++k)
        program.results[own + k].shape = graph.results[k]->shape;
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
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since)
            .count();
    };
    CompileTimes times;
    const Graph simplified = timed(times.passes, [&] {
        return run_passes(table, assume_divisors(table, graph, options.facts));
    });
    Graph prepared =
        timed(times.schedule, [&] { return prepare(table, simplified, profile, options.facts); });
    timed(times.schedule, [&] { check_sizes(prepared, profile, options.facts); });
    const auto planned = [&](const CutWeights& cuts, bool nested) {
        check_stop(options);
        const Schedule schedule = timed(times.schedule, [&] {
            return make_schedule(prepared, weighted(profile, cuts), options.facts, nested);
        });
        check_stop(options);
        return timed(times.plan,
                     [&] { return make_plan(prepared, schedule, profile, options, times); });
    };
    const auto cut = [&](const CutWeights& cuts) {
        try {
            return planned(cuts, true);
        } catch (const TooManyTurns&) {
            return planned(cuts, false);
        }
    };
    CutWeights cuts = options.cuts.value_or(CutWeights{});
    std::shared_ptr<Program> program = cut(cuts);
    if (!options.cuts)
        if (const auto tuned = find_tuned_cuts(cuts_key(*program, options.facts), options))
            program = cut(cuts = *tuned);
    if (cuts != CutWeights{}) program->cuts = text(cuts);
    declare_shapes(*program, graph);
    times.plan -= times.lower + times.map + times.emit;
    program->compile_milliseconds = milliseconds(start);
    const auto emitted = std::chrono::steady_clock::now();
    if (options.spirv) compile_kernels(*program, options);
    program->spirv_milliseconds = times.spirv = milliseconds(emitted);
    if (options.times) *options.times = times;
    return program;
}

}  // namespace firn
