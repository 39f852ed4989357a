// Orders the reads and stores of a kernel by hand.
#pragma once
#include <vector>

#include "compiler/ir/by_hand.h"

namespace firn {

/// A step; the Barriers of several arrays are one.
struct HandStep {
    std::vector<const Node*> nodes;
};
/// Returns the steps of a region (of Placement), ordered so that reads of a version come before the
/// step that makes the next one. Throws UserError if that cannot be: an old version is still read
/// after a store.
std::vector<HandStep> order_steps(const HandArrays& arrays, const Placement& placement, int region);

}  // namespace firn
