// Finds loops whose steps are so small that one group may run them all.
#pragma once
#include "compiler/schedule/schedule_facts.h"

namespace firn {

/// Returns the host loops whose steps, by estimate, take no longer in one group than on all cores
/// with one launch each (mapping/list/put_in_sequence): each step then costs a barrier. Excludes
/// the loops of `launched`, which could not become one kernel, and loops around other loops that
/// are not small.
NodeSet small_loops(const ScheduleFacts& facts, const NodeSet& launched);
/// True if the value belongs to such a loop: its kernel is a step of one group.
bool in_small_loop(const ScheduleFacts& facts, const Node& node);

}  // namespace firn
