// What a kernel has at hand already: a value computed from it costs less than its own parts say.
#pragma once
#include "compiler/schedule/demand.h"

namespace firn {

/// What a round of verdicts asked for, and what it kept in memory.
struct AtHand {
    Asks asks;
    NodeSet materialised;
};

/// Seconds that an element of `node` costs the kernel of `ask.root`, which asks for what `at_hand`
/// says anyway: nothing for what it has at the same place, and for a load beside another one the
/// share of the invocations of a register tile that make it.
double seconds_beside(const Node& node, const Ask& ask, const AtHand& at_hand,
                      const ScheduleFacts& facts, AccessMaps& maps);

}  // namespace firn
