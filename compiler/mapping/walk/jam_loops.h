// Builds one new loop for some iterations of an old one, which several copies of the kernel's body
// share.
#pragma once
#include <vector>

#include "compiler/mapping/walk/deal_iterations.h"

namespace firn {

struct MappingRun;

/// The values that a loop carries, by copy of a group of them.
using Carried = std::vector<std::vector<NodeId>>;

/// The loops that are jammed into one new loop. They are For nodes of the lowered kernel.
struct Jam {
    NodeId loop;
    std::vector<NodeId> around;  // loops around it that run as one with it, outermost first
    std::vector<size_t> group;   // the copies whose values the new loop carries
    bool stores = false;         // its body's stores belong to it
};

/// Builds a loop over one part of the iterations, with all iterations of the loops around; no loop
/// if the part is known to be one iteration or none. Takes the values before it, gives those after
/// it. Terms that unrolled iterations only gather are combined in a tree of their own. Stores are
/// added to the effects of the region that is being built.
Carried jam_loop(MappingRun& run, const Jam& jam, const Part& part, Carried values);

}  // namespace firn
