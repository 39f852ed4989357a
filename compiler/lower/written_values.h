// Versions of tensors that are written by index.
#pragma once
#include <vector>

#include "compiler/lower/lower_run.h"

namespace firn {

/// Starts the new versions as their targets, in place if these have no other use; then stores every
/// position. Throws UserError if the device lacks the atomics for that.
void add_written(LowerRun& run, const ScheduleItem& item, std::vector<ListedStep>& out);

}  // namespace firn
