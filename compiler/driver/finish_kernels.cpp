// Stages 4 to 6 for all kernels of a program: the table of passes over their list.
#include "compiler/driver/finish_kernels.h"

#include <array>

#include "compiler/base/stage_timer.h"
#include "compiler/lower/lower_graph.h"
#include "compiler/plan/plan_sizes.h"
#include "compiler/plan/reuse_arguments.h"
#include "compiler/plan/share_dispatches.h"
#include "compiler/plan/update_in_place.h"

namespace firn {
namespace {

using enum KernelStage;

void emit(KernelList& list, FinishRun& run) {
    emit_kernels(list, run.emitted, run.target.profile, run.options);
}

constexpr const char* kRuns = "a program consists of placed kernels and the steps that run them";

/// Kernels are emitted before update_in_place and reuse_arguments: two bindings of one buffer would
/// give another text. These come before put_in_sequence, since in a sequence it is not known which
/// reader of an element is the last. Sequences are emitted at the end.
constexpr auto kPipeline = std::to_array<ListPass>({
    {{"lower_graph", "lower/lower_graph", kNeedsFacts | kNeedsProfile | kNeedsSchedule, kRuns},
     Lowered,
     Lowered,
     &CompileTimes::lower,
     [](KernelList& list, FinishRun& run) {
         list = lower_graph(run.graph, run.schedule, run.target.profile, run.target.facts);
     }},
    {{"make_ready", "mapping/list/map_kernels", kNeedsFacts | kNeedsProfile, kRuns},
     Lowered,
     Ready,
     &CompileTimes::lower,
     [](KernelList& list, FinishRun& run) { make_ready(list, run.target); }},
    {{"find_excess", "driver/excess_work", kNeedsFacts | kNeedsProfile | kNeedsSchedule},
     Ready,
     Ready,
     &CompileTimes::schedule,
     [](KernelList& list, FinishRun& run) {
         run.excess = find_excess(list, run.graph, run.schedule, run.target.profile,
                                  run.target.facts, run.census);
     }},
    {{"raise_radix", "mapping/list/raise_radix", kNeedsFacts | kNeedsProfile},
     Ready,
     Ready,
     &CompileTimes::map,
     [](KernelList& list, FinishRun& run) { raise_radix(list, run.target); }},
    {{"put_side_by_side", "mapping/list/put_side_by_side", kNeedsFacts | kNeedsProfile},
     Ready,
     Ready,
     &CompileTimes::map,
     [](KernelList& list, FinishRun& run) { put_side_by_side(list, run.target); }},
    {{"pack_operands", "mapping/list/pack_operands", kNeedsFacts | kNeedsProfile},
     Ready,
     Ready,
     &CompileTimes::map,
     [](KernelList& list, FinishRun& run) { pack_operands(list, run.target); }},
    {{"map_kernels", "mapping/list/map_kernels", kNeedsFacts | kNeedsProfile, kRuns},
     Ready,
     Placed,
     &CompileTimes::map,
     [](KernelList& list, FinishRun& run) { map_kernels(list, run.target); }},
    {{"bind_list_sizes", "plan/plan_sizes", kNeedsProfile, "kernels read sizes from buffers"},
     Placed,
     Placed,
     &CompileTimes::plan,
     [](KernelList& list, FinishRun& run) { bind_list_sizes(list, run.target.profile); }},
    {{"emit_kernels", "plan/emit_kernels", kNeedsFacts | kNeedsProfile, kRuns},
     Placed,
     Placed,
     &CompileTimes::emit,
     emit},
    {{"update_in_place", "plan/update_in_place"},
     Placed,
     Placed,
     &CompileTimes::plan,
     [](KernelList& list, FinishRun&) { update_in_place(list); }},
    {{"reuse_arguments", "plan/reuse_arguments"},
     Placed,
     Placed,
     &CompileTimes::plan,
     [](KernelList& list, FinishRun& run) { reuse_arguments(list, run.options.donated); }},
    {{"put_in_sequence", "mapping/list/put_in_sequence", kNeedsFacts | kNeedsProfile},
     Placed,
     Placed,
     &CompileTimes::map,
     [](KernelList& list, FinishRun& run) { put_in_sequence(list, run.target); }},
    {{"share_dispatches", "plan/share_dispatches", kNeedsFacts | kNeedsProfile},
     Placed,
     Placed,
     &CompileTimes::plan,
     [](KernelList& list, FinishRun& run) { share_dispatches(list, run.target); }},
    {{"emit_kernels", "plan/emit_kernels", kNeedsFacts | kNeedsProfile, kRuns},
     Placed,
     Placed,
     &CompileTimes::emit,
     emit},
});

/// Adds the texts of the kernels that could not be finished to the trace.
void keep_unfinished(const KernelList& list, CompileTrace& trace) {
    for_kernels(list.steps, [&](const ListedKernel& kernel) {
        const std::string name = "unfinished " + std::to_string(trace.kernels.size());
        if (!kernel.trail.empty()) trace.kernels.push_back({name, kernel.trail});
    });
}

}  // namespace

std::span<const ListPass> list_passes() { return kPipeline; }

FinishedKernels finish_kernels(const Graph& graph, const Schedule& schedule,
                               const DeviceProfile& profile, const CompileOptions& options,
                               CompileTimes& times) {
    const auto timed = [&](double CompileTimes::*time, const auto& stage) {
        const StageTimer timer(times.*time);
        stage();
    };
    FinishRun run{{profile, options.facts, options.skipped, options.trace != nullptr,
                   options.verify, options.stop},
                  options,
                  graph,
                  schedule,
                  {},
                  {},
                  {}};
    KernelList list;
    try {
        for (size_t k = 0; k < kPipeline.size(); ++k) {
            check_stop(options);
            if (is_skipped(options.skipped, kPipeline, k)) continue;
            timed(kPipeline[k].time, [&] { kPipeline[k].run(list, run); });
            if (!run.excess.empty()) break;
        }
    } catch (...) {
        if (options.trace) keep_unfinished(list, *options.trace);
        throw;
    }
    return {std::move(list), std::move(run.excess), std::move(run.census)};
}

}  // namespace firn
