// The guards of an invocation's copies: which of them store.
#pragma once
#include <vector>

namespace firn {

struct MappingRun;

/// Returns effects of the root for those of each copy, behind the copies' guards. If lanes share an
/// index, one of them stores what is not dealt to them.
std::vector<int> nest_guards(MappingRun& run, const std::vector<std::vector<int>>& by_copy);

}  // namespace firn
