// The steps of a program, in their order.
#pragma once
#include <vector>

#include "compiler/plan/plan_run.h"

namespace firn {

/// The steps of the innermost region that the run's sizes have open, which ends: the program
/// itself, or the body of a loop.
std::vector<Step> steps_of(PlanRun& run, const std::vector<ScheduleItem>& items);

}  // namespace firn
