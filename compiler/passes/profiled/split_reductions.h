// Splits large reductions with few results into stages that keep the whole device busy.
#pragma once
#include <map>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Rewrites each Reduce that has many elements and too few results to fill the device: into partial
/// reductions over runs of neighbours, and a reduction of the partial results, which is split again
/// if it is large. Ensures: the same values up to the order of float additions. Runs before the
/// schedule, which then makes each stage a kernel.
Graph split_reductions(NodeTable& table, const Graph& graph, const DeviceProfile& profile,
                       const SymbolFacts& facts);

}  // namespace firn
