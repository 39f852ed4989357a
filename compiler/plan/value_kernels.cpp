// Kernels that compute values, each at all its indices.
#include "compiler/plan/value_kernels.h"

#include <utility>

#include "compiler/kernel/count.h"
#include "compiler/plan/dispatches.h"
#include "compiler/plan/plan_buffers.h"
#include "compiler/plan/waiting_kernels.h"

namespace firn {
namespace {

bool within_back_edges(const KernelCode& code, const DeviceProfile& profile) {
    return !profile.max_back_edges ||
           (code.back_edges >= 0 && code.back_edges <= profile.max_back_edges);
}

void add_request(PlanRun& run, const KernelRequest& request, std::vector<Step>& out) {
    KernelCode ready = ready_kernel(run, request);
    if (ready.regions[0].effects.empty()) return;  // stores that never take place
    if (let_wait(run, ready, request, out)) return;
    const Work work = count_work(ready);
    MappedKernel made = map_ready(run, std::move(ready));
    // A row that is too long for one invocation is left to as many as it has elements.
    if ((request.inner || !request.row_reductions.empty()) &&
        !within_back_edges(made.code, run.profile))
        return add_kernel(run, request.outputs, request.targets, request.shape, out);
    add_dispatch(run, std::move(made), work, request.outputs, out);
}

}  // namespace

void add_kernel(PlanRun& run, const ScheduleItem& item, std::vector<Step>& out) {
    KernelRequest request;
    for (const Ref& r : item.outputs) {
        request.targets.push_back(value_buffer(run, *r));
        if (!r->shape.empty() || r->dtype != i32) continue;
        // Who asks for it later need not load it.
        if (const auto size = host_size(*r, run.context.host_values))
            run.context.host_values[r.get()] = *size;
    }
    request.inner = item.inner;
    request.row_reductions.insert(item.row_reductions.begin(), item.row_reductions.end());
    request.shape = item.outputs[0]->shape;
    request.outputs = item.outputs;
    add_request(run, request, out);
}

void add_kernel(PlanRun& run, const std::vector<Ref>& outputs, const std::vector<int>& targets,
                const Shape& shape, std::vector<Step>& out) {
    KernelRequest request;
    request.shape = shape;
    request.outputs = outputs;
    request.targets = targets;
    add_request(run, request, out);
}

}  // namespace firn
