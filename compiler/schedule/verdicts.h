// Verdicts by cost: where each value lives.
#pragma once
#include "compiler/schedule/draft.h"

namespace firn {

/// It has memory of its own where that is worth it: no leaf, no movement, nothing that the host or
/// a kernel's loop has at hand.
bool is_ever_kept(const ScheduleFacts& facts, const Node& node);

/// One round: decides every value that something asks for, from consumers to producers. Requires: a
/// fresh round (start_round). Ensures: its verdicts, asks, rows and what is materialised.
void decide(Draft& draft);

/// After a round: notes the loops inside kernels of which some result is materialised, which makes
/// their other results cheaper to keep. True where there are new ones.
bool note_leaving_loops(Draft& draft);

/// Something is in memory only because computing it where it is asked seems dearer.
bool judged_dearer(const Round& round);

}  // namespace firn
