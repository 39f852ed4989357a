// Kernels of a program on their way from the graph to a mapping.
#include "compiler/plan/mapped_kernels.h"

#include <utility>

#include "compiler/kernel/count.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/row_groups.h"
#include "compiler/program/stage_timer.h"

namespace firn {
namespace {

KernelCode run_passes(PlanRun& run, KernelCode code, KernelStage from, KernelStage to,
                      const Mapping* mapping) {
    KernelPassOptions options{.steps = run.options.steps};
    if (run.options.trace)
        options.seen = [&](const KernelPassRun& pass, const KernelCode& now) {
            note_pass(run, pass, now);
        };
    return run_kernel_passes(std::move(code), from, to, {run.profile, run.options.facts, mapping},
                             options);
}

}  // namespace

KernelCode ready_kernel(PlanRun& run, const KernelRequest& request) {
    const StageTimer timer(run.times.lower);
    run.trail.clear();
    KernelCode code = lower_kernel(request, run.context);
    verify(code, KernelStage::Lowered, "lower");
    note_pass(run, {"lower"}, code);
    return run_passes(run, std::move(code), KernelStage::Lowered, KernelStage::Ready, nullptr);
}

MappedKernel map_ready(PlanRun& run, KernelCode ready) {
    const StageTimer timer(run.times.map);
    MappedKernel out;
    if (run.options.steps.choose_mapping)
        out.mapping = choose_mapping(ready, run.profile, run.options.facts);
    else
        hold_rows(out.mapping, ready, run.profile, run.options.facts);
    out.code = run_passes(run, ready, KernelStage::Ready, KernelStage::Placed, &out.mapping);
    out.lowered = std::make_shared<KernelCode>(std::move(ready));
    return out;
}

MappedKernel map_by_hand(PlanRun& run, const KernelRequest& request, Work& work) {
    KernelCode code;
    {
        const StageTimer timer(run.times.lower);
        code = lower_by_hand(request, run.context, run.profile);
        verify(code, KernelStage::Lowered, "lower");
        run.trail.clear();
        note_pass(run, {"lower"}, code);
    }
    KernelCode counted = code;
    place(counted);
    work = count_work(counted);
    code = run_passes(run, std::move(code), KernelStage::Ready, KernelStage::Placed, nullptr);
    return {std::move(code), {}, nullptr};
}

void note_pass(PlanRun& run, const KernelPassRun& pass, const KernelCode& now) {
    if (run.options.trace)
        run.trail.push_back(
            {pass.name, pass.milliseconds, pass.nodes_before, pass.nodes_after, {}, print(now)});
}

}  // namespace firn
