// Neighbours at places that each lane computes by itself: few loads of several elements.
#pragma once
#include <map>
#include <set>
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
    /// The selections of loads that nothing else takes, which choose them if no clamp changes an
    /// index.
    std::map<NodeId, NodeId> chosen;
    /// Integers and bools, operands first, that indices and selections are made of: those that come
    /// later than the first load, and those that are computed where a clamp changes an index alone.
    std::vector<NodeId> ahead, apart;

    std::vector<NodeId> loads() const;
};

struct Bunches {
    std::map<NodeId, Bunch> by_load;  // that comes first
    std::set<NodeId> apart;           // of all of them
};

/// The bunches among nodes that are written one after the other.
Bunches find_bunches(const IrRun& run, const std::vector<NodeId>& nodes);

/// Returns whether a bunch is one here, where what stands ahead is written: none of its loads is,
/// and nothing is known of the places of its lanes.
bool is_bunch(const IrRun& run, const Bunch& bunch);
/// Writes all loads of one that is, or the selections of them; what they are made of is written,
/// but for what stands apart.
void write_bunch(IrRun& run, const Bunch& bunch);

}  // namespace firn::native
