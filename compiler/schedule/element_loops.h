// Finds loops that can run inside one kernel because each element is independent.
#pragma once
#include <unordered_map>
#include <vector>

#include "compiler/schedule/regions.h"

namespace firn {

/// Counts how often each value is an input of a node or a result of a region.
using UseCounts = std::unordered_map<const Node*, int>;
UseCounts count_uses(const std::vector<Ref>& order);

/// True if each value that the loop carries is asked for only at the element's own index, so that
/// the loop can run inside one kernel. Values that iterations only combine into do not belong to an
/// element: each element is a position there, and combines independently. `regions`: its host_loops
/// contain those inside this loop.
bool is_element_loop(const RegionFacts& regions, const UseCounts& uses, const Node& loop);

}  // namespace firn
