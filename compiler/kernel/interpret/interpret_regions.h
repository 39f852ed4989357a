// Regions, and the loops and branches that they belong to, by masks of lanes, for the host
// interpreter.
#pragma once
#include "compiler/kernel/interpret/interpret_run.h"

namespace firn {

/// Runs one node for the lanes of `mask`.
void run_node(InterpretRun& run, NodeId id, const LaneMask& mask);
/// Runs the nodes of a region for the lanes of `mask`.
void run_region(InterpretRun& run, RegionId id, const LaneMask& mask);

}  // namespace firn
