// Values that are joined from parts are stored part by part.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/program/device_profile.h"
#include "compiler/schedule/schedule.h"

namespace firn {

/// Of the values that `schedule` keeps in memory, those that are joined from parts of one shape
/// (ir/joined_parts) become versions that are written by position: one kernel over the indices of
/// a part computes all parts, once, and stores each in its place. As a choice by its own index
/// every element computes all parts, or loads them from memory where they are dear. Only where
/// parts are long enough that neighbours store side by side, where the kernel can bind what all
/// parts may load, and where that saves more than a launch. Ensures: the same values. The graph
/// itself where there are none.
Graph store_parts(NodeTable& table, const Graph& graph, const Schedule& schedule,
                  const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
