// Finds loops that read more tensors than one kernel can bind.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/program/device_profile.h"
#include "compiler/program/size_env.h"
#include "compiler/schedule/regions.h"

namespace firn {

/// The form in which the results of a loop leave its kernel: each as a separate tensor, or joined
/// as parts of one tensor for each type and shape (see join_crowded_results).
enum class LoopResults : uint8_t { Each, Joined };
/// Returns the loops inside kernels that read and write more tensors than a kernel can bind.
NodeSet crowded_loops(const RegionFacts& regions, const DeviceProfile& profile,
                      const SymbolFacts& facts, LoopResults as = LoopResults::Each);

/// Joins the results of such loops into parts of one tensor for each type and shape, which is one
/// binding, if that is enough. Ensures: the same values.
Graph join_crowded_results(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                           const SymbolFacts& facts);

/// Turns the other such loops into loops of kernels, which can be cut. Ensures: the same values.
/// Runs before bound_loops and open_loops, which handle loops of kernels.
Graph host_crowded_loops(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                         const SymbolFacts& facts);

}  // namespace firn
