// Keeps the trip count of every loop inside a kernel within what the driver allows.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// A loop that could take more back edges in one invocation than the profile's limit becomes a loop
/// of kernels over chunks of the same loop; so does one whose trip count depends on data. A kernel
/// written by hand stays one dispatch: loops in it that must end take fewer iterations. Ensures:
/// the same values. Runs after split_reductions, which bounds the reductions inside.
Graph bound_loops(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                  const SymbolFacts& facts);

}  // namespace firn
