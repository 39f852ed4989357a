// Chains whose uses grow from value to value, such as pyramids: where one has to be cut, it is cut
// where that costs least.
#pragma once
#include "compiler/schedule/draft.h"

namespace firn {

/// After a round: a value that one kernel asks for at more places than are followed went to memory.
/// Where keeping a value between the two costs less, notes that for the next round. True where one
/// was noted.
bool note_early_cuts(Draft& draft);

}  // namespace firn
