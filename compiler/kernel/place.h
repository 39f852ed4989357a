// Gives every node of a kernel the region that evaluates it.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Gives every value the region that evaluates it. Post-condition: KernelRegion::order is filled;
/// every live node stands in exactly one order, after its operands. A node is placed in the
/// innermost region that holds all its uses, then hoisted out of the loops that it does not depend
/// on, but never out of a branch (loads of a kernel with `loads_first`: out of guards, and before
/// the effects of their region that write other buffers). No load leaves a loop over another loop's
/// remainder (Range::rest) or, unless its index is surely inside, a loop with one iteration or
/// none. Effects and pinned nodes stay in their region. Collective operations of a subgroup stand
/// where all lanes reach them. Dead nodes stand nowhere.
void place(KernelCode& code);

/// Places like place() but without in_order, which place() runs once: finds the live nodes and
/// where they would stand.
void place_apart(KernelCode& code);

/// Returns, per node, the loop bodies whose index or carried values it depends on.
ByNode<std::vector<RegionId>> region_needs(const KernelCode& code);

/// Per region, the region it stands in (none for the root), valid after place().
ByRegion<RegionId> region_parents(const KernelCode& code);

}  // namespace firn
