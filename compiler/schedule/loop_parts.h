// What the iterations of a loop compute, by what it waits for.
#pragma once
#include <vector>

#include "compiler/schedule/regions.h"

namespace firn {

/// By carried value.
using Flags = std::vector<bool>;

/// The values of a loop's body, without those inside of loops and branches in it.
struct LoopParts {
    Ref loop;
    std::vector<Ref> order;  // operands first
    NodeSet inside;          // they depend on the iteration, or on what is carried
    NodeSet recurrent;       // they wait for what the iteration before gave
    NodeSet single;          // there is no operation that does the same for all iterations at once
    /// By carried value what each iteration adds to it, where nothing else is done with it: null
    /// where there is more. `negated`: it is subtracted.
    std::vector<Ref> terms;
    Flags negated;

    const Region& body() const { return *loop->as<LoopAttr>().body; }
};
LoopParts loop_parts(const Ref& loop);

/// The sums: all, or those of what reads values of its iteration at other places.
/// @{
Flags sums(const LoopParts& parts);
Flags sums_across(const LoopParts& parts);
/// @}

/// A loop from which sums are moved: they are computed behind it, for all iterations at once.
struct LoopCut {
    Flags moved;
    NodeSet kept;             // nodes of the body that others than the sums need
    std::vector<Ref> terms;   // of the sums
    std::vector<Ref> behind;  // what is computed for them, operands first
    std::vector<Ref> tapes;   // what the loop must keep of every iteration for that
};
/// Of `moved` those that can be.
LoopCut cut_loop(const LoopParts& parts, Flags moved);

}  // namespace firn
