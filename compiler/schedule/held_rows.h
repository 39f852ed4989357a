// Groups that hold rows: the invocations keep the elements in registers while the group combines
// them.
#pragma once
#include "compiler/schedule/draft.h"

namespace firn {

// Every invocation of the group computes elements of the row, and keeps them in registers while the
// group combines what the row's reductions ask for (`Round::row_reductions`).

/// True if every asking kernel holds its rows in groups, and if the value reduces something of the
/// kernel's shape along the row that asks for it.
bool combines_in_groups(Draft& draft, const Node& node, const std::set<Ask>& asks);
/// Lets the groups of the asking kernels combine the value.
void combine_in_groups(Draft& draft, const Node& node, const std::set<Ask>& asks);
/// Returns the seconds of one such reduction over values of this shape, which subgroups exchange
/// through shared memory.
double combine_seconds(const ScheduleFacts& facts, const Shape& shape);

/// Notes, after a round, the kernels that would compute once what they keep in memory if their
/// groups held rows. Those that keep it in memory nevertheless return to their former state. True
/// if anything changed.
bool note_held_rows(Draft& draft);

}  // namespace firn
