// Stores values that are joined from parts, such as stacks, part by part.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/program/device_profile.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// Values in memory by `schedule` that are joined from parts of one shape (ir/joined_parts) become
/// versions that are written by position: one kernel over the indices of a part computes all parts,
/// once, and stores each in its place. If the value stayed a choice by its own index, every element
/// would compute all parts, or load them from memory if they are expensive. This happens only if
/// parts are long enough for neighbours to store side by side, if the kernel can bind what all
/// parts may load, and if it saves more than a launch. Ensures: the same values. Returns the graph
/// itself if there is no such value.
Graph store_parts(NodeTable& table, const Graph& graph, const Schedule& schedule,
                  const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
