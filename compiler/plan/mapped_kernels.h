// Kernels of a program on their way from the graph to a mapping.
#pragma once
#include <memory>
#include <vector>

#include "compiler/mapping/passes.h"
#include "compiler/plan/plan_run.h"

namespace firn {

/// A kernel that is Placed.
struct MappedKernel {
    KernelCode code;
    Mapping mapping;
    std::shared_ptr<const KernelCode> lowered;  // Ready; null where its user has mapped it
};

/// The kernel of a request, Ready.
KernelCode ready_kernel(PlanRun& run, const KernelRequest& request);
/// Mapped as the heuristics say.
MappedKernel map_ready(PlanRun& run, KernelCode ready);
/// A kernel by hand, and what it does.
MappedKernel map_by_hand(PlanRun& run, const KernelRequest& request, Work& work);

/// Adds `now` to the trail of the kernel that is made, where somebody asks for it.
void note_pass(PlanRun& run, const KernelPassRun& pass, const KernelCode& now);

}  // namespace firn
