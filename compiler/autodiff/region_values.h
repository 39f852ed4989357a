// What bodies of loops and branches read from outside, and copies of them.
#pragma once
#include <unordered_set>
#include <vector>

#include "compiler/autodiff/reverse_run.h"

namespace firn {

/// The values outside of a body that change results with those it reads, and that depend on
/// targets.
std::vector<Ref> active_outside(const ReverseRun& run, const Region& body);
/// See Cotangent.
bool all_chosen(const std::vector<Cotangent>& results);
/// `found`, or zeros like the node where that is null.
Ref or_zeros(ReverseRun& run, const Ref& found, const Node& like);

/// The nodes of `order` whose values change with the iterations of a loop in it.
std::unordered_set<const Node*> inside_of_loops(const std::vector<Ref>& order);

}  // namespace firn
