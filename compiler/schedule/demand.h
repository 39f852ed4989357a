// What a value asks its inputs for, where it is asked itself.
#pragma once
#include <functional>
#include <set>
#include <unordered_map>

#include "compiler/schedule/access.h"
#include "compiler/schedule/schedule_facts.h"

namespace firn {

/// A value asked by a kernel's root at a map.
struct Ask {
    const Node* root;
    int map;
    /// By age, never by address: the same graph is judged the same way in every run.
    friend bool operator<(const Ask& a, const Ask& b) {
        return std::pair(a.root->serial, a.map) < std::pair(b.root->serial, b.map);
    }
};
using Asks = std::unordered_map<const Node*, std::set<Ask>>;

/// More than are followed of one value, by the kernel at `root` or by all.
bool are_too_many(const std::set<Ask>& asks, const Node& root);

/// Visits what `node` asks for where it is asked at `map`, with the maps at which it does: an input
/// more than once, where its maps differ or where a loop names it twice. Results of regions ask
/// into their bodies; what a region is given (RegionArg) asks for nothing, and neither does a leaf.
void for_demand(const ScheduleFacts& facts, AccessMaps& maps, const Node& node, int map,
                const std::function<void(const Node&, int)>& visit);

}  // namespace firn
