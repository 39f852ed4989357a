// The guards of an invocation's copies: which of them store.
#pragma once
#include <vector>

#include "compiler/kernel/ids.h"

namespace firn {

struct MappingRun;

/// Returns effects of the root for those of each copy, behind the copies' guards. If lanes share an
/// index, one of them stores what is not dealt to them.
std::vector<NodeId> nest_guards(MappingRun& run, const std::vector<std::vector<NodeId>>& by_copy);

}  // namespace firn
