// Estimates the cost of a value in a kernel that already has, or loads, some of what it needs.
#pragma once
#include "compiler/schedule/demand.h"

namespace firn {

/// The asks of a round of verdicts, and the values that it kept in memory.
struct AlreadyLoaded {
    Asks asks;
    NodeSet materialised;
};

/// Returns the seconds that an element of `node` costs the kernel of `ask.root`, which asks for
/// what `already_loaded` says in any case. A value that the kernel has at the same place costs
/// nothing. A load beside another one costs the share of the invocations of a register tile that
/// perform it.
double seconds_beside(const Node& node, const Ask& ask, const AlreadyLoaded& already_loaded,
                      const ScheduleFacts& facts, AccessMaps& maps);

}  // namespace firn
