// Finds the kernels by hand that only their user can map.
#pragma once
#include "compiler/ir/by_hand.h"
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Returns whether loads and stores of an invocation must follow one another as they were recorded,
/// or invocations of a group work together, or stores stand where a mapping does not copy them: in
/// a branch, or in a loop whose values are used behind it. Any other kernel by hand without a group
/// of its user's is mapped as one that computes values, if its iterations never store to the same
/// element: all its loads may come before its stores, and these in any order.
bool needs_order(const Node& kernel, const HandArrays& arrays, const Placement& placement);

/// Returns whether two iterations of a loop may store to one element, as far as its index shows, so
/// that the last must win. `code` is lowered.
bool iterations_may_meet(const KernelCode& code);

}  // namespace firn
