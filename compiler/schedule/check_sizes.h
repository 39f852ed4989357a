// Refuses values with more indices than kernels can count, and names the user's line.
#pragma once
#include "compiler/ir/graph.h"
#include "compiler/program/device_profile.h"
#include "compiler/schedule/regions.h"

namespace firn {

/// Throws UserError if an axis has more than kMostIndices elements, or if a stored value has more
/// than kMostElements positions along an axis. If that depends on symbols, it adds a guard that the
/// call checks. (The sizes of values in memory are checked when the call is planned.) Runs after
/// the graph's last change: axes that are gone by then do not count.
void check_sizes(Graph& graph, const DeviceProfile& profile, const SymbolFacts& facts);

/// Throws UserError, with the user's line, if a value of known size that is kept in memory has more
/// than kMostElements elements.
void check_memory(const Graph& graph, const NodeSet& materialised);

}  // namespace firn
