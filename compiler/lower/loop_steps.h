// Loops of kernels as steps of a program.
#pragma once
#include <vector>

#include "compiler/lower/lower_run.h"

namespace firn {

/// Adds the loop of the item as a RepeatStep whose carried values rotate among buffers. Throws
/// UserError if the host cannot know its trip count.
void add_loop(LowerRun& run, const ScheduleItem& item, std::vector<ListedStep>& out);

}  // namespace firn
