// The compiler as one function: Graph and DeviceProfile in, Program out.
#include "compiler/driver/compile.h"

#include <chrono>
#include <iomanip>
#include <sstream>

#include "compiler/codegen/spirv.h"
#include "compiler/driver/finish_kernels.h"
#include "compiler/ir/text.h"
#include "compiler/kernel/kernel_code.h"
#include "compiler/passes/open_loops.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/profiled/bound_loops.h"
#include "compiler/passes/profiled/crowded_loops.h"
#include "compiler/passes/profiled/distribute_loops.h"
#include "compiler/passes/profiled/kept_states.h"
#include "compiler/passes/profiled/split_reductions.h"
#include "compiler/passes/profiled/store_parts.h"
#include "compiler/passes/state_tapes.h"
#include "compiler/plan/plan.h"
#include "compiler/plan/plan_kernel.h"
#include "compiler/plan/tuned.h"
#include "compiler/program/parallel.h"
#include "compiler/program/stage_timer.h"
#include "compiler/schedule/check_sizes.h"
#include "compiler/schedule/regions.h"
#include "compiler/schedule/schedule.h"

namespace firn {

void compile_kernel(KernelInfo& kernel, const CompileOptions& options) {
    SpirvOptions spirv;
    spirv.cache_directory = options.cache_directory;
    spirv.validate = options.validate;
    kernel.spirv = glsl_to_spirv(kernel.glsl, kernel.name, spirv);
}

namespace {

/// Compiles the SPIR-V of every kernel.
void compile_kernels(Program& program, const CompileOptions& options) {
    const auto one = [&](size_t k) {
        check_stop(options);
        compile_kernel(program.kernels[k], options);
    };
    const size_t count = program.kernels.size();
    if (options.all_cores) {
        std::function<void(size_t)> watch;
        if (options.watch) watch = [&](size_t done) { options.watch({options.name, done, count}); };
        return for_each_in_parallel(count, one, watch);
    }
    for (size_t k = 0; k < count; ++k) one(k);
}

/// Adds the text of a graph, as `pass` left it, to the trace.
void note(CompileTrace* trace, const std::string& pass, const Graph& graph) {
    if (!trace) return;
    const size_t nodes = topological(graph.results).size();
    trace->graph.push_back({pass, 0, nodes, nodes, {}, print(graph, {.lines = true})});
}

/// Runs the passes that do not depend on the device.
Graph simplified(NodeTable& table, const Graph& graph, const CompileOptions& compile) {
    const SymbolFacts& facts = compile.facts;
    CompileTrace* const trace = compile.trace.get();
    PassOptions options;
    options.stop = compile.stop;
    if (!trace) return run_passes(table, assume_sizes(table, graph, facts), options);
    trace->graph.clear(), trace->kernels.clear();
    note(trace, "recorded", graph);
    std::vector<std::string> texts;
    options.dump = [&](const std::string&, const Graph& now) {
        texts.push_back(print(now, {.lines = true}));
    };
    std::vector<PassRun> runs;
    const Graph out = run_passes(table, assume_sizes(table, graph, facts), options, &runs);
    trace->graph.push_back({.name = "assume_sizes", .text = texts.at(0)});
    for (size_t k = 0; k < runs.size(); ++k)
        trace->graph.push_back({runs[k].name, runs[k].milliseconds, runs[k].nodes_before,
                                runs[k].nodes_after, runs[k].fired, texts.at(k + 1)});
    return out;
}

/// Replaces each result that is only a reshape of a result of a Loop, of a Scatter or of a sum by
/// that value: it lies in the same memory, and declare_shapes() gives it its shape.
Graph without_last_shapes(Graph graph) {
    for (Ref& result : graph.results) {
        const Node* at = result.get();
        while (at->op == Op::Reshape) at = at->inputs[0].get();
        if (at->op != Op::Result && at->op != Op::Scatter && at->op != Op::Reduce) continue;
        while (result->op == Op::Reshape) result = Ref(result->inputs[0]);
    }
    return graph;
}

/// Runs the passes on the graph that need the device's profile.
Graph prepare(NodeTable& table, Graph graph, const DeviceProfile& profile,
              const CompileOptions& options) {
    const SymbolFacts& facts = options.facts;
    CompileTrace* const trace = options.trace.get();
    const auto now = [&](const char* pass, const Graph& next) {
        check_stop(options);
        if (next.results != graph.results) note(trace, pass, next);
        graph = next;
    };
    now("without_last_shapes", without_last_shapes(graph));
    now("read_last_states", read_last_states(table, graph, facts));
    now("distribute_loops", distribute_loops(table, graph, profile, facts));
    now("join_crowded_results", join_crowded_results(table, graph, profile, facts));
    now("split_reductions", split_reductions(table, graph, profile, facts));
    now("host_crowded_loops", host_crowded_loops(table, graph, profile, facts));
    now("bound_loops", bound_loops(table, graph, profile, facts));
    // Loops over chunks, which bound_loops makes, carry their values in memory.
    now("host_crowded_loops", host_crowded_loops(table, graph, profile, facts));
    // Opening a loop adds a reduction, which tells whether any element goes on.
    if (const Graph opened = open_loops(table, graph, facts); opened.results != graph.results) {
        now("open_loops", opened);
        now("split_reductions", split_reductions(table, graph, profile, facts));
    }
    now("keep_states_once", keep_states_once(table, graph, profile, facts));
    const RegionFacts regions = region_facts(graph);
    auto steps = regions.host_loops;
    for (const Ref& node : regions.order)
        if (node->op == Op::Loop && node->as<LoopAttr>().by_hand()) steps.insert(node.get());
    if (!steps.empty()) now("run_both_sides", run_both_sides(table, graph, steps));
    return graph;
}

/// Gives arguments and results the shapes that the caller wrote: by the variant's facts they are
/// the same as those of the graph.
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

/// Returns the row roots of the kernels in which an invocation takes more iterations than the
/// driver allows; null stands for such a kernel that walks no rows.
NodeSet overlong(const KernelList& list, const DeviceProfile& profile) {
    NodeSet out;
    for_kernels(list.steps, [&](const ListedKernel& kernel) {
        if (!is_within_back_edges(kernel.code, profile)) out.insert(kernel.row_root);
    });
    return out;
}

/// Notes the small loops of the schedule that did not become one kernel. False if there are none.
bool note_launched(const KernelList& list, const Schedule& schedule, NodeSet& launched) {
    bool found = false;
    for_loops(list.steps, [&](const ListedLoop& loop) {
        if (schedule.small_loops.contains(loop.node)) found |= launched.insert(loop.node).second;
    });
    return found;
}

/// Arguments of make_schedule() that follow from earlier rounds.
struct CutFacts {
    bool nested = true;
    NodeSet launched, kept;
};

/// Stage 3: makes the schedule. If store_parts() changes the graph, `graph` is the changed one and
/// the schedule is made again for it.
Schedule schedule_of(NodeTable& table, Graph& graph, const DeviceProfile& rated,
                     const CompileOptions& options, const CutFacts& known) {
    const auto make = [&] {
        return make_schedule(graph, rated, options.facts, known.nested, known.launched, known.kept);
    };
    Schedule out = make();
    const Graph stored = store_parts(table, graph, out, rated, options.facts);
    if (stored.results == graph.results) return out;
    graph = stored;
    note(options.trace.get(), "store_parts", graph);
    return make();
}

/// Stages 3 to 7. A schedule makes no cut for a kernel that may run as it is: how many iterations
/// an invocation takes is known only after the kernel is mapped, since copies, unrolling and lanes
/// that share a loop make them fewer. If they are too many, this function first gives up rows, then
/// nesting, and then keeps the reductions and loops on the way to a kernel's outputs in memory. It
/// judges again loops that did not become one kernel, as the costs of their steps assumed, and it
/// keeps in memory what kernels compute far too often.
std::shared_ptr<Program> cut_and_plan(NodeTable& table, Graph graph, const CutWeights& cuts,
                                      const DeviceProfile& profile, const CompileOptions& options,
                                      CompileTimes& times) {
    CutFacts known;
    const auto cut = [&] {
        check_stop(options);
        return timed(times.schedule, [&] {
            Schedule out = schedule_of(table, graph, weighted(profile, cuts), options, known);
            check_memory(graph, out.materialised);
            return out;
        });
    };
    Schedule schedule = cut();
    ExcessCensus census;  // what was cut in any round, and the kernels of the last one
    for (;;) {
        check_stop(options);
        auto [list, excess, counted] = finish_kernels(graph, schedule, profile, options, times);
        begin_round(census);
        add(census, counted);
        if (!excess.empty()) {
            known.kept.merge(excess);
            schedule = cut();
            continue;
        }
        if (note_launched(list, schedule, known.launched)) {
            schedule = cut();
            continue;
        }
        const NodeSet found = overlong(list, profile);
        if (leave_rows(schedule, found)) continue;
        NodeSet parts;
        if (!found.empty() && !known.nested)
            parts = find_overlong_parts(list, graph, schedule, profile, options.facts);
        known.kept.insert(parts.begin(), parts.end());
        if (parts.empty() && (found.empty() || !known.nested)) {
            if (!options.excess_log.empty()) append_excess(options.excess_log, census);
            return timed(times.plan, [&] {
                return make_plan(std::move(list), graph, schedule.verdicts, profile, options);
            });
        }
        known.nested = false;
        schedule = cut();
    }
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
    const Graph simple = timed(times.passes, [&] { return simplified(table, graph, options); });
    Graph prepared =
        timed(times.schedule, [&] { return prepare(table, simple, profile, options); });
    timed(times.schedule, [&] { check_sizes(prepared, profile, options.facts); });
    const auto cut = [&](const CutWeights& cuts) {
        return cut_and_plan(table, prepared, cuts, profile, options, times);
    };
    CutWeights cuts = options.cuts.value_or(CutWeights{});
    std::shared_ptr<Program> program = cut(cuts);
    if (!options.cuts)
        if (const auto tuned = find_tuned_cuts(cuts_key(*program, options.facts), options))
            program = cut(cuts = *tuned);
    if (cuts != CutWeights{}) program->cuts = text(cuts);
    declare_shapes(*program, graph);
    program->source = options.source;
    program->compile_milliseconds = milliseconds(start);
    const auto emitted = std::chrono::steady_clock::now();
    if (options.spirv) compile_kernels(*program, options);
    program->spirv_milliseconds = times.spirv = milliseconds(emitted);
    if (options.times) *options.times = times;
    return program;
}

}  // namespace firn
