// Kernels that compute values, each at all its indices.
#pragma once
#include <vector>

#include "compiler/plan/plan_run.h"

namespace firn {

/// A dispatch, now or beside others, that computes what the item asks for.
void add_kernel(PlanRun& run, const ScheduleItem& item, std::vector<Step>& out);
/// Of `outputs` over the grid `shape`; output k goes to buffer targets[k].
void add_kernel(PlanRun& run, const std::vector<Ref>& outputs, const std::vector<int>& targets,
                const Shape& shape, std::vector<Step>& out);

}  // namespace firn
