// The order of what a kernel by hand reads and stores.
#pragma once
#include <vector>

#include "compiler/ir/by_hand.h"

namespace firn {

/// One step; the Barriers of several arrays are one.
struct HandStep {
    std::vector<const Node*> nodes;
};
/// The steps of a region (of Placement) so that what reads a version comes before what makes the
/// next one. UserError where that cannot be: an old version is still read after a store.
std::vector<HandStep> order_steps(const HandArrays& arrays, const Placement& placement, int region);

}  // namespace firn
