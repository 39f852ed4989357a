// Makes the verdicts by cost: where each value lives.
#pragma once
#include "compiler/schedule/draft.h"

namespace firn {

/// True if the value can be worth memory of its own: it is no leaf and no movement, and neither the
/// host nor a kernel's loop has it already.
bool is_ever_kept(const ScheduleFacts& facts, const Node& node);

/// Runs one round: decides every value that something asks for, from consumers to producers.
/// Requires: a fresh round (start_round). Ensures: the round's verdicts, asks, rows and
/// materialised values.
void decide(Draft& draft);

/// Notes, after a round, the loops inside kernels some result of which is materialised: this makes
/// their other results cheaper to keep. True if there are new ones.
bool note_leaving_loops(Draft& draft);

/// True if some value is in memory only because computing it at its uses seems more expensive.
bool judged_dearer(const Round& round);

}  // namespace firn
