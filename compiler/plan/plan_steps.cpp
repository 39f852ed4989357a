// The steps of a program, in their order.
#include "compiler/plan/plan_steps.h"

#include <cstddef>
#include <utility>

#include "compiler/ir/accumulation.h"
#include "compiler/kernel/count.h"
#include "compiler/plan/dispatches.h"
#include "compiler/plan/host_loops.h"
#include "compiler/plan/kernels_by_hand.h"
#include "compiler/plan/value_kernels.h"
#include "compiler/plan/waiting_kernels.h"
#include "compiler/plan/written_values.h"

namespace firn {
namespace {

void add_item(PlanRun& run, const ScheduleItem& item, std::vector<Step>& out) {
    const bool by_hand = !item.loop && is_stored_by_hand(*item.outputs[0]);
    const bool plain =
        !item.loop && !by_hand && !written(*item.outputs[0], run.schedule.host_loops);
    if (plain) return add_kernel(run, item, out);
    add_waiting(run, out);
    if (item.loop)
        add_loop(run, item, out);
    else if (by_hand)
        add_by_hand(run, item.outputs, out);
    else
        add_written(run, item, out);
}

/// The kernels that compute sizes take their places between the steps.
void add_size_steps(PlanRun& run, std::vector<Step>& steps) {
    for (PlannedSizes::Computation& each : run.sizes.close()) {
        const Work work = largest(count_work(each.code));
        Step step{dispatch_of(run, std::move(each.code), work)};
        steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(each.before), std::move(step));
    }
}

}  // namespace

std::vector<Step> steps_of(PlanRun& run, const std::vector<ScheduleItem>& items) {
    std::vector<Step> out;
    run.sizes.note(run.context.buffers, 0);
    for (const ScheduleItem& item : items) {
        add_item(run, item, out);
        if (run.sizes.waits_for(item)) add_waiting(run, out);
        run.sizes.note(run.context.buffers, out.size());
    }
    add_waiting(run, out);
    add_size_steps(run, out);
    return out;
}

}  // namespace firn
