// Rows that a group holds: its invocations keep their elements while it combines them.
#pragma once
#include "compiler/schedule/draft.h"

namespace firn {

// Every invocation of the group computes elements of the row, and keeps them in registers while the
// group combines what the row's reductions ask for (`Round::row_reductions`).

/// Every asker holds its rows in groups, and the value reduces something of its shape along the row
/// that asks.
bool combines_in_groups(Draft& draft, const Node& node, const std::set<Ask>& asks);
/// The groups of the askers combine the value.
void combine_in_groups(Draft& draft, const Node& node, const std::set<Ask>& asks);
/// Seconds of one such reduction of values of this shape, which subgroups exchange through shared
/// memory.
double combine_seconds(const ScheduleFacts& facts, const Shape& shape);

/// After a round: notes the kernels that would compute once what they keep in memory, did their
/// groups hold rows. Those that keep it in memory all the same go back to what they were. True
/// where something changed.
bool note_held_rows(Draft& draft);

}  // namespace firn
