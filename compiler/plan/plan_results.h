// What a program gives back and says of itself, once its steps are known.
#pragma once
#include "compiler/plan/plan_run.h"

namespace firn {

/// Every result in a buffer of its own; the values of data symbols first.
void add_results(PlanRun& run);
/// What is left open of the sizes that the kernels bind.
void note_assumed(PlanRun& run);
/// What was decided of each value, and why.
void add_verdicts(PlanRun& run);

}  // namespace firn
