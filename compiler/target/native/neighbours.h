// Neighbours at places that each lane computes by itself: few loads of several elements.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// Two or four neighbours that each lane loads at once, some of which nothing may ask for.
struct Neighbours {
    int64_t offset = 0;         // of the first one from the bunch's least index
    std::vector<NodeId> loads;  // of each of them; none: it is not asked for
};

/// A number that a clamp keeps inside, of which loads add several constants.
struct Clamped {
    NodeId value, low, high;
    int64_t least = 0, most = 0;  // the constants
};

/// Loads from one buffer at indices that differ by constants if no clamp changes them.
struct Bunch {
    NodeId first;  // the load of the least index
    std::vector<Neighbours> neighbours;
    std::vector<Clamped> clamped;  // none may be changed
    /// Integers, operands first, that its indices are made of and that come later than its first
    /// load.
    std::vector<NodeId> ahead;

    std::vector<NodeId> loads() const;
};

/// The bunches among nodes that are written one after the other, each by the first of its loads.
std::map<NodeId, Bunch> find_bunches(const IrRun& run, const std::vector<NodeId>& nodes);

/// Returns whether a bunch is one here, where its load `node` comes first: none is written, and
/// nothing is known of the places of the lanes.
bool is_bunch(const IrRun& run, NodeId node, const Bunch& bunch);
/// Writes all loads of one that is; what they are made of is written.
void write_bunch(IrRun& run, const Bunch& bunch);

}  // namespace firn::native
