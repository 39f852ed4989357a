// Cuts chains in which each value multiplies the number of uses of the next, such as pyramids, at
// the value where a cut costs least.
#pragma once
#include "compiler/schedule/draft.h"

namespace firn {

/// Looks, after a round, for values that went to memory because one kernel asks for them at more
/// places than are followed. If keeping a value between the two costs less, notes that for the next
/// round. True if any was noted.
bool note_early_cuts(Draft& draft);

}  // namespace firn
