// Gives every node of a kernel the region that evaluates it.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Post-condition: KernelRegion::order is filled; every live node stands in exactly one order,
/// after its operands. A node is placed in the innermost region that holds all its uses, then
/// hoisted out of the loops that it does not depend on, but never out of a branch (loads of a
/// kernel with `loads_first`: out of guards, and before the effects of their region that write
/// other buffers), and no load out of what another loop has left (Range::rest) or, unless its index
/// is surely inside, of a loop with one iteration or none; effects and pinned nodes stay in their
/// region. What the lanes of a subgroup compute together stands where all of
/// them come by. Dead nodes stand nowhere.
void place(KernelCode& code);

/// The same without in_order, which place() settles once: what is alive, and where it would stand.
void place_apart(KernelCode& code);

/// Per node, the loop bodies whose index or carried values it depends on.
std::vector<std::vector<int>> region_needs(const KernelCode& code);

/// Per region, the region it stands in (-1 for the root), valid after place().
std::vector<int> region_parents(const KernelCode& code);

}  // namespace firn
