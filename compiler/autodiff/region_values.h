// Values that bodies of loops and branches read from outside.
#pragma once
#include <unordered_set>
#include <vector>

#include "compiler/autodiff/reverse_run.h"

namespace firn {

/// The values outside of the bodies of a loop, a kernel by hand or a branch that change results
/// with those that the bodies read, and that depend on targets. If a body reads a value repeated to
/// more elements than any of its results has, the value before the repetition stands for it.
std::vector<Ref> active_outside(const ReverseRun& run, const Node& owner);
/// See Cotangent.
bool all_chosen(const std::vector<Cotangent>& results);
/// `found`, or zeros like the node where that is null.
Ref or_zeros(ReverseRun& run, const Ref& found, const Node& like);

/// The nodes of `order` whose values change with the iterations of a loop in it.
std::unordered_set<const Node*> inside_of_loops(const std::vector<Ref>& order);

}  // namespace firn
