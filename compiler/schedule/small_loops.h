// Loops of steps so small that one group may take them all.
#pragma once
#include "compiler/schedule/schedule_facts.h"

namespace firn {

/// Host loops whose steps, by estimate, one group takes no longer for than all cores with a launch
/// each (mapping/put_in_sequence): a step of theirs costs a barrier. Not those of `launched`, of
/// which no one kernel could be made, nor loops around others that are none.
NodeSet small_loops(const ScheduleFacts& facts, const NodeSet& launched);
/// The value belongs to one of them: its kernel is a step of one group.
bool in_small_loop(const ScheduleFacts& facts, const Node& node);

}  // namespace firn
