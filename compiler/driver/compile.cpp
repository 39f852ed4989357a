// The compiler as one function: Graph and DeviceProfile in, Program out.
#include "compiler/driver/compile.h"

#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/parallel.h"
#include "compiler/base/stage_timer.h"
#include "compiler/driver/finish_kernels.h"
#include "compiler/ir/text.h"
#include "compiler/kernel/kernel_code.h"
#include "compiler/passes/host_loops.h"
#include "compiler/passes/passes.h"
#include "compiler/plan/plan.h"
#include "compiler/plan/plan_kernel.h"
#include "compiler/plan/tuned.h"
#include "compiler/schedule/check_sizes.h"
#include "compiler/schedule/schedule.h"
#include "compiler/target/target.h"

namespace firn {

void compile_kernel(Program& program, size_t kernel, const CompileOptions& options) {
    check_stop(options);
    target_of(program.profile)
        .build(program.kernels[kernel], program.profile,
               {options.cache_directory, options.validate});
}

void compile_kernels(Program& program, const CompileOptions& options) {
    const auto one = [&](size_t k) { compile_kernel(program, k, options); };
    const size_t count = program.kernels.size();
    if (options.all_cores) {
        std::function<void(size_t)> watch;
        if (options.watch) watch = [&](size_t done) { options.watch({options.name, done, count}); };
        return for_each_in_parallel(count, one, watch);
    }
    for (size_t k = 0; k < count; ++k) one(k);
}

namespace {

/// Runs the passes over the graph from one stage to another; the trace keeps what each makes.
Graph transformed(const Graph& graph, GraphStage from, GraphStage to, const GraphTarget& target,
                  const CompileOptions& options) {
    // A recorded graph is always verified, first and behind each pass of its stage.
    GraphPassOptions passes{.verify = from == GraphStage::Recorded || options.verify,
                            .skipped = options.skipped,
                            .seen = {},
                            .stop = options.stop};
    if (CompileTrace* const trace = options.trace.get())
        passes.seen = [trace](const PassRun& run, const Graph& now) {
            trace->graph.push_back({run.name, run.milliseconds, run.nodes_before, run.nodes_after,
                                    run.fired, print(now, {.lines = true})});
        };
    return run_graph_passes(graph, from, to, target, passes);
}

/// Begins the trace with the graph as it was recorded.
void start_trace(CompileTrace& trace, const Graph& graph) {
    trace.graph.clear(), trace.kernels.clear();
    const size_t nodes = topological(graph.results).size();
    trace.graph.push_back({"recorded", 0, nodes, nodes, {}, print(graph, {.lines = true})});
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

/// Arguments of make_schedule() that follow from earlier rounds, and why there were some.
struct CutFacts {
    bool nested = true;
    NodeSet launched, kept;
    std::vector<std::string> scheduled, lowered;  // again: the reasons
};

/// Stage 3: makes the schedule. If passes that need one change the graph, `graph` is the changed
/// one and the schedule is made again for it.
Schedule schedule_of(NodeTable& table, Graph& graph, const DeviceProfile& rated,
                     const CompileOptions& options, CutFacts& known) {
    const auto make = [&] {
        return make_schedule(graph, rated, options.facts, known.nested, known.launched, known.kept);
    };
    Schedule out = make();
    const Graph changed = transformed(graph, GraphStage::Fitted, GraphStage::Fitted,
                                      {table, options.facts, &rated, &out}, options);
    if (changed.results == graph.results) return out;
    graph = changed;
    known.scheduled.push_back("values that are joined from parts are stored part by part");
    return make();
}

/// `scheduled 3 times: why; why`; nothing where it was done once.
void add_rounds(std::vector<std::string>& lines, const char* what,
                const std::vector<std::string>& reasons) {
    if (reasons.empty()) return;
    std::string line = what + (" " + std::to_string(reasons.size() + 1)) + " times: ";
    for (size_t k = 0; k < reasons.size(); ++k) line += (k ? "; " : "") + reasons[k];
    lines.push_back(line);
}

/// Returns what was done again and why, and which passes were left out, for explain().
std::vector<std::string> rounds_of(const Schedule& schedule, const CutFacts& known,
                                   const CompileOptions& options) {
    std::vector<std::string> out;
    add_rounds(out, "scheduled", known.scheduled);
    add_rounds(out, "verdicts made", schedule.rounds);
    add_rounds(out, "lowered", known.lowered);
    std::string left;
    for (const std::string& pass : options.skipped) left += (left.empty() ? "" : ", ") + pass;
    if (!left.empty()) out.push_back("without the passes " + left);
    return out;
}

/// The lines of some values, for a reason: ` (a.cpp:7, a.cpp:9)`.
std::string lines_of(const NodeSet& values) {
    std::set<std::string> lines;
    for (const Node* value : values)
        for (const SourceLine& line : value->lines) lines.insert(text(line));
    constexpr size_t kMost = 4;
    std::string out;
    size_t count = 0;
    for (const std::string& line : lines) {
        if (++count > kMost) break;
        out += (out.empty() ? " (" : ", ") + line;
    }
    return out.empty() ? out : out + (lines.size() > kMost ? ", ...)" : ")");
}

/// Returns the graph with some loops inside kernels as loops of kernels.
Graph with_host_loops(NodeTable& table, const Graph& graph, const NodeSet& loops,
                      const DeviceProfile& profile, const CompileOptions& options) {
    if (loops.empty()) return graph;
    return transformed(host_loops(table, graph, loops), GraphStage::Simplified, GraphStage::Fitted,
                       {table, options.facts, &profile}, options);
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
    const auto again = [&](std::string reason) {
        known.scheduled.push_back(std::move(reason));
        return cut();
    };
    Schedule schedule = cut();
    ExcessCensus census;  // what was cut in any round, and the kernels of the last one
    for (;;) {
        check_stop(options);
        auto [list, excess, counted] = finish_kernels(graph, schedule, profile, options, times);
        begin_round(census);
        add(census, counted);
        if (!excess.empty()) {
            const std::string reason =
                excess.loops.empty()
                    ? "a kernel computes values too often" + lines_of(excess.values)
                    : "a loop inside a kernel computes values too often" + lines_of(excess.loops);
            graph = with_host_loops(table, graph, excess.loops, profile, options);
            known.kept.merge(excess.values);
            schedule = again(reason);
            continue;
        }
        if (note_launched(list, schedule, known.launched)) {
            schedule = again("the steps of a small loop did not become one kernel");
            continue;
        }
        const NodeSet found = overlong(list, profile);
        if (leave_rows(schedule, found)) {
            known.lowered.push_back("an invocation that walks a row takes more iterations than " +
                                    std::to_string(profile.max_back_edges));
            continue;
        }
        NodeSet parts;
        if (!found.empty() && !known.nested)
            parts = find_overlong_parts(list, graph, schedule, profile, options.facts);
        known.kept.insert(parts.begin(), parts.end());
        if (parts.empty() && (found.empty() || !known.nested)) {
            if (!options.excess_log.empty()) append_excess(options.excess_log, census);
            const auto program = timed(times.plan, [&] {
                return make_plan(std::move(list), graph, schedule.verdicts, profile, options);
            });
            program->rounds = rounds_of(schedule, known, options);
            return program;
        }
        known.nested = false;
        schedule = again("an invocation takes more iterations than " +
                         std::to_string(profile.max_back_edges) + lines_of(parts));
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
    if (options.trace) start_trace(*options.trace, graph);
    const GraphTarget target{table, options.facts, &profile};
    using enum GraphStage;
    const Graph simple = timed(
        times.passes, [&] { return transformed(graph, Recorded, Simplified, target, options); });
    const Graph fitted = timed(
        times.schedule, [&] { return transformed(simple, Simplified, Fitted, target, options); });
    const auto cut = [&](const CutWeights& cuts) {
        return cut_and_plan(table, fitted, cuts, profile, options, times);
    };
    CutWeights cuts = options.cuts.value_or(CutWeights{});
    std::shared_ptr<Program> program = cut(cuts);
    if (!options.cuts)
        if (const auto tuned = find_tuned_cuts(cuts_key(*program, options), options))
            program = cut(cuts = *tuned);
    if (cuts != CutWeights{}) program->cuts = text(cuts);
    declare_shapes(*program, graph);
    program->source = options.source;
    program->compile_milliseconds = milliseconds(start);
    const auto emitted = std::chrono::steady_clock::now();
    if (options.emission == Emission::Binary) compile_kernels(*program, options);
    program->build_milliseconds = times.build = milliseconds(emitted);
    if (options.times) *options.times = times;
    return program;
}

}  // namespace firn
