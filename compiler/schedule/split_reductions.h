// Large reductions with few results become stages that keep the whole device busy.
#pragma once
#include <map>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Rewrites each Reduce over many elements with too few results to fill the device into partial
/// reductions over runs of neighbours, then a reduction of the partial results, again split where
/// that is large. Ensures: the same values up to the order of float additions. Before the schedule,
/// which then makes each stage a kernel.
Graph split_reductions(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                       const SymbolFacts& facts);

}  // namespace firn
