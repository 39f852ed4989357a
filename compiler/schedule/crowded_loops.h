// Loops that read more tensors than one kernel binds.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/program/device_profile.h"
#include "compiler/program/size_env.h"

namespace firn {

/// Loops inside kernels whose iterations read and carry more tensors than a kernel binds become
/// loops of kernels, which can be cut. Ensures: the same values. Before bound_loops and open_loops,
/// which see to loops of kernels.
Graph host_crowded_loops(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                         const SymbolFacts& facts);

}  // namespace firn
