// Small kernels that wait for others to stand beside.
#pragma once
#include <vector>

#include "compiler/plan/plan_run.h"

namespace firn {

/// Takes a kernel that is Ready among those that wait, where it may stand beside others: true, and
/// `ready` is moved from. Those that wait become a dispatch first where it needs them, or where
/// both do not fit and it is the larger.
bool let_wait(PlanRun& run, KernelCode& ready, const KernelRequest& request,
              std::vector<Step>& out);
/// Those that wait become one dispatch.
void add_waiting(PlanRun& run, std::vector<Step>& out);

}  // namespace firn
