// What a kernel has at hand already: a value computed from it costs less than its own parts say.
#pragma once
#include <functional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/graph.h"
#include "compiler/schedule/access.h"

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

/// What a round of verdicts asked for, and what it kept in memory.
struct AtHand {
    Asks asks;
    std::unordered_set<const Node*> materialised;
};

struct ElementCosts {
    std::unordered_map<const Node*, double> seconds;  // to evaluate one element where it is inlined
    double operation = 0, load = 0;                   // seconds
    std::function<bool(const Node&)> is_free;         // known without a load or an operation
    std::function<bool(const Node&)> is_in_memory;    // whatever the verdicts are
    std::function<bool(const Node&)>
        is_computed;  // element by element, from its inputs at their maps
};

/// Operations of a node itself, for one element.
double own_operations(const Node& node);

/// Seconds that an element of `node` costs the kernel of `ask.root`, which asks for what `at_hand`
/// says anyway: nothing for what it has at the same place, and for a load beside another one the
/// share of the invocations of a register tile that make it.
double seconds_beside(const Node& node, const Ask& ask, const AtHand& at_hand,
                      const ElementCosts& costs, AccessMaps& maps);

}  // namespace firn
