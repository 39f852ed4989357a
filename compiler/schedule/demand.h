// Finds the elements of its inputs that a value needs at a given index.
#pragma once
#include <functional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "compiler/schedule/access.h"
#include "compiler/schedule/schedule_facts.h"

namespace firn {

/// A kernel's root asks for a value at a map. With `starts` the value is needed for the tensor that
/// a store or a kernel written by hand begins with: a kernel of its own computes that, which has
/// the tensor's elements as its grid.
struct Ask {
    const Node* root;
    int map;
    bool starts = false;
    /// Orders by age, never by address, so that the same graph is judged the same way in every run.
    friend bool operator<(const Ask& a, const Ask& b) {
        return std::tuple(a.root->serial, a.starts, a.map) <
               std::tuple(b.root->serial, b.starts, b.map);
    }
};
using Asks = std::unordered_map<const Node*, std::set<Ask>>;

/// Returns the index space of the kernel that asks.
const Shape& asking_grid(const RegionFacts& regions, const Ask& ask);

/// True if the kernel at `root`, or all kernels together, ask for a value at more maps than are
/// followed.
bool are_too_many(const std::set<Ask>& asks, const Node& root);

/// Visits what `node` asks for when it is asked for at `map`, with the maps at which it asks. It
/// visits an input more than once if its maps differ or if a loop names it twice. Results of
/// regions ask into their bodies. An argument of a region (RegionArg) asks for nothing, and neither
/// does a leaf. The last argument of `visit` is true for a tensor that the node begins with, and
/// stores to (Ask::starts).
void for_demand(const ScheduleFacts& facts, AccessMaps& maps, const Node& node, int map,
                const std::function<void(const Node&, int, bool)>& visit);

}  // namespace firn
