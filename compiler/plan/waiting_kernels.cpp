// Small kernels that wait for others to stand beside.
#include "compiler/plan/waiting_kernels.h"

#include <algorithm>
#include <utility>

#include "compiler/kernel/count.h"
#include "compiler/mapping/side_by_side.h"
#include "compiler/plan/dispatches.h"

namespace firn {

bool let_wait(PlanRun& run, KernelCode& ready, const KernelRequest& request,
              std::vector<Step>& out) {
    WaitingKernels& waiting = run.waiting;
    const bool free = std::all_of(waiting.codes.begin(), waiting.codes.end(),
                                  [&](const KernelCode& w) { return independent(w, ready); });
    if (!free) add_waiting(run, out);
    if (request.inner || !run.options.steps.side_by_side || !is_small_kernel(ready, run.profile))
        return false;
    // Where two do not fit, the smaller waits for another.
    const bool fits = may_stand_beside(waiting.codes, ready, run.profile, run.options.facts);
    if (!fits && is_larger(ready, waiting.codes)) return false;
    if (!fits) add_waiting(run, out);
    waiting.codes.push_back(std::move(ready));
    waiting.outputs.insert(waiting.outputs.end(), request.outputs.begin(), request.outputs.end());
    waiting.trail.insert(waiting.trail.end(), run.trail.begin(), run.trail.end());
    return true;
}

void add_waiting(PlanRun& run, std::vector<Step>& out) {
    if (run.waiting.codes.empty()) return;
    WaitingKernels waiting = std::exchange(run.waiting, {});
    KernelTrail next = std::exchange(run.trail, std::move(waiting.trail));
    Work work;
    for (const KernelCode& part : waiting.codes) {
        const Work one = count_work(part);
        work.operations += one.operations;
        work.bytes_read += one.bytes_read;
        work.bytes_written += one.bytes_written;
    }
    KernelCode ready;
    if (waiting.codes.size() == 1) {
        ready = std::move(waiting.codes[0]);
    } else {
        ready = side_by_side(waiting.codes, run.profile, run.options.facts);
        verify(ready, KernelStage::Ready, "side_by_side");
        note_pass(run, {"side_by_side"}, ready);
    }
    add_dispatch(run, map_ready(run, std::move(ready)), work, waiting.outputs, out);
    run.trail = std::move(next);
}

}  // namespace firn
