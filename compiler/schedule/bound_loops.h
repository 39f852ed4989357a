// Keeps every loop inside a kernel below the number of iterations that the driver allows.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Loops that could take more back edges in one invocation than the profile's limit become a loop
/// of kernels over chunks of the same loop; so do those whose trip count only the data knows. A
/// kernel by hand stays one dispatch: loops in it that must end take fewer iterations. Ensures: the
/// same values. After split_reductions, which bounds the reductions inside.
Graph bound_loops(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                  const SymbolFacts& facts);

}  // namespace firn
