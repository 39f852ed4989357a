// Stage 7: a list of finished kernels becomes a Program.
#include "compiler/plan/plan.h"

#include <unordered_map>
#include <utility>

#include "compiler/kernel/structure.h"
#include "compiler/plan/plan_kernel.h"
#include "compiler/plan/plan_notes.h"
#include "compiler/plan/value_graph.h"

namespace firn {
namespace {

struct PlanRun {
    Program& program;
    const DeviceProfile& profile;
    CompileTrace* trace;
    std::unordered_map<const KernelInfo*, int> places;  // of emitted kernels
    std::vector<std::vector<const Node*>> values;       // by dispatch
};

/// Returns the ranges and the number of loops as `y n, x m; 2 loops`.
std::string ranges_text(const KernelCode& code) {
    std::string out;
    int loops = 0;
    for (const Range& range : code.ranges) {
        loops += range.kind == RangeKind::Serial;
        if (range.kind == RangeKind::Grid)
            out += (out.empty() ? "" : ", ") + range.name + " " + range.extent.text();
    }
    if (loops > 0)
        out +=
            (out.empty() ? "" : "; ") + std::to_string(loops) + (loops == 1 ? " loop" : " loops");
    return out;
}

/// Adds a kernel's description to the program, with its first dispatch.
int add_kernel(PlanRun& run, ListedKernel kernel) {
    std::vector<KernelInfo>& all = run.program.kernels;
    const auto place = static_cast<int>(all.size());
    KernelInfo info = *kernel.emitted;
    info.mapping = std::move(kernel.mapping), info.tuning_key = std::move(kernel.tuning_key);
    info.tuned = kernel.tuned;
    info.lines = std::move(kernel.lines);
    info.name = "k" + std::to_string(place) + (info.lines.empty() ? "" : " " + info.lines[0]);
    if (info.lines.empty() && !kernel.code.name.empty()) info.name += " " + kernel.code.name;
    kernel.code.name = info.name;
    info.code = std::make_shared<KernelCode>(std::move(kernel.code));
    if (run.trace) run.trace->kernels.push_back({info.name, std::move(kernel.trail)});
    all.push_back(std::move(info));
    return place;
}

/// An equal kernel stands for this one, too.
void share_kernel(KernelInfo& shared, const ListedKernel& kernel) {
    add_lines(shared.lines, kernel.lines);
    auto widened = std::make_shared<KernelCode>(*shared.code);
    widen(*widened, kernel.code);
    shared.back_edges = widened->back_edges, shared.guards = widened->guards;
    shared.code = std::move(widened);
}

/// Checks limits; keeps the trail of a kernel that cannot run in the trace.
void check(const PlanRun& run, const ListedKernel& kernel) {
    try {
        check_limits(kernel.code, run.profile,
                     kernel.lines.empty() ? "" : " (" + kernel.lines[0] + ")");
    } catch (...) {
        if (run.trace) run.trace->kernels.push_back({"unfinished", kernel.trail});
        throw;
    }
}

DispatchStep dispatch_of(PlanRun& run, ListedKernel kernel) {
    check(run, kernel);
    run.values.push_back(std::move(kernel.values));
    DispatchStep step;
    step.work = kernel.work;
    if (kernel.group_counts >= 0) {
        step.sizes_binding = kernel.code.sizes_buffer;
        step.sizes_groups = kernel.group_counts;
    }
    launch_as(step, kernel.code);
    step.lowered = std::move(kernel.ready);
    const auto [at, added] = run.places.try_emplace(kernel.emitted.get());
    if (added)
        at->second = add_kernel(run, std::move(kernel));
    else
        share_kernel(run.program.kernels[static_cast<size_t>(at->second)], kernel);
    step.kernel = at->second;
    if (step.lowered)
        run.program.kernels[static_cast<size_t>(step.kernel)].ranges = ranges_text(*step.lowered);
    return step;
}

std::vector<Step> placed(PlanRun& run, std::vector<ListedStep> steps) {
    std::vector<Step> out;
    for (ListedStep& step : steps) {
        if (auto* kernel = std::get_if<ListedKernel>(&step.step))
            out.push_back({dispatch_of(run, std::move(*kernel))});
        if (const auto* copy = std::get_if<CopyStep>(&step.step)) out.push_back({*copy});
        if (auto* call = std::get_if<CallStep>(&step.step)) out.push_back({std::move(*call)});
        if (auto* loop = std::get_if<ListedLoop>(&step.step)) {
            loop->loop.body = placed(run, std::move(loop->body));
            out.push_back({std::move(loop->loop)});
        }
    }
    return out;
}

}  // namespace

std::shared_ptr<Program> make_plan(KernelList list, const Graph& graph,
                                   const std::vector<ValueVerdict>& verdicts,
                                   const DeviceProfile& profile, const CompileOptions& options) {
    Program& program = *list.program;
    if (options.trace) options.trace->kernels.clear();  // of an earlier try
    program.name = options.name;
    program.profile = profile;
    PlanRun run{program, profile, options.trace.get(), {}, {}};
    program.steps = placed(run, std::move(list.steps));
    for (size_t k = 0; k < program.data_sizes.size(); ++k)
        program.data_sizes[k].buffer = program.results[k].buffer;
    if (options.facts.bindable) note_assumed(program, options.facts);
    add_verdicts(program, verdicts);
    if (options.trace) options.trace->values = value_graph(graph, verdicts, run.values);
    return list.program;
}

}  // namespace firn
