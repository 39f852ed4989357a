// Divides the values of a loop's body by what they depend on.
#pragma once
#include <vector>

#include "compiler/schedule/regions.h"

namespace firn {

/// A flag for each carried value.
using Flags = std::vector<bool>;

/// The values of a loop's body, without those inside the loops and branches in it.
struct LoopParts {
    Ref loop;
    std::vector<Ref> order;  // operands first
    NodeSet inside;          // they depend on the iteration or on carried values
    NodeSet recurrent;       // they depend on earlier iterations
    NodeSet single;          // no operation does the same for all iterations at once
    /// The term that an iteration adds to each carried value; null if the value is used for
    /// anything else. `negated`: it is subtracted.
    std::vector<Ref> terms;
    Flags negated;

    const Region& body() const { return *loop->as<LoopAttr>().body; }
};
LoopParts loop_parts(const Ref& loop);

/// Returns the carried values that are sums: all of them, or those whose terms read values of their
/// iteration at other places.
/// @{
Flags sums(const LoopParts& parts);
Flags sums_across(const LoopParts& parts);
/// @}

/// A loop from which sums are moved: they are computed after it, for all iterations at once.
struct LoopCut {
    Flags moved;
    NodeSet kept;             // nodes of the body that the loop still needs
    std::vector<Ref> terms;   // of the sums
    std::vector<Ref> behind;  // what is computed for them after the loop, operands first
    std::vector<Ref> tapes;   // what the loop keeps of every iteration for that
};
/// Cuts those of `moved` that can be moved.
LoopCut cut_loop(const LoopParts& parts, Flags moved);

}  // namespace firn
