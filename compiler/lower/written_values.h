// Versions of tensors that are written by index.
#pragma once
#include <vector>

#include "compiler/lower/lower_run.h"

namespace firn {

/// The new versions start as what their targets are, in place where nobody else needs that; then
/// every position is stored. UserError where the device lacks the atomics for that.
void add_written(LowerRun& run, const ScheduleItem& item, std::vector<ListedStep>& out);

}  // namespace firn
