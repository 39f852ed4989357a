// Which loops can run inside one kernel, each element on its own.
#pragma once
#include <unordered_map>
#include <vector>

#include "compiler/schedule/regions.h"

namespace firn {

/// How often each value is an input or the result of a region.
using UseCounts = std::unordered_map<const Node*, int>;
UseCounts count_uses(const std::vector<Ref>& order);

/// Each value that the loop carries is asked only at the element's own index, so that the loop can
/// run inside one kernel. What iterations only combine into is no value of an element: each element
/// is a position there, and combines on its own. `regions`: of host_loops those inside this one.
bool is_element_loop(const RegionFacts& regions, const UseCounts& uses, const Node& loop);

}  // namespace firn
