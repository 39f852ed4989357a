// What has more indices than kernels can count is refused, by its line.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/program/device_profile.h"
#include "compiler/schedule/regions.h"

namespace firn {

/// Throws UserError where an axis has more than kMostIndices, or what is stored more positions
/// along one than kMostElements; where that depends on symbols a guard is added, which the call
/// checks. (What lies in memory is checked when the call is planned.) After the graph's last
/// change: axes that it has no more do not count.
void check_sizes(Graph& graph, const DeviceProfile& profile, const SymbolFacts& facts);

/// Throws UserError where a value of known size that is kept in memory has more than kMostElements,
/// by its line.
void check_memory(const Graph& graph, const NodeSet& materialised);

}  // namespace firn
