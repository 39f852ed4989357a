// Loops that read more tensors than one kernel binds.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/program/device_profile.h"
#include "compiler/program/size_env.h"
#include "compiler/schedule/regions.h"

namespace firn {

/// How the results of a loop leave its kernel: each as a tensor of its own, or as parts of one for
/// each type and shape (see join_crowded_results).
enum class LoopResults : uint8_t { Each, Joined };
/// Loops inside kernels whose iterations read and give more tensors than a kernel binds.
NodeSet crowded_loops(const RegionFacts& regions, const DeviceProfile& profile,
                      const SymbolFacts& facts, LoopResults as = LoopResults::Each);

/// Where that is enough, their results become parts of one tensor for each type and shape, which is
/// one binding. Ensures: the same values.
Graph join_crowded_results(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                           const SymbolFacts& facts);

/// The others become loops of kernels, which can be cut. Ensures: the same values. Before
/// bound_loops and open_loops, which see to loops of kernels.
Graph host_crowded_loops(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                         const SymbolFacts& facts);

}  // namespace firn
