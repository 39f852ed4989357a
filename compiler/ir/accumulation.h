// Values that are written position by position: stores, and loops whose iterations combine into a
// tensor.
#pragma once
#include <unordered_set>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

/// The Scatters by which the iterations of a Loop combine into carried value k, the last first,
/// where the body does nothing else with it on the way to its next value. All combine by the same
/// operation, or there is one that stores in every iteration to places of its own, so that the
/// order of iterations and positions does not matter. Empty: there are none.
std::vector<const Node*> accumulation(const Node& loop, size_t k);

/// A store of one of the parts that make a version together.
bool is_part(const Node& node);

/// A value that is written by position: by each of `scatters` (the last first), over the old value
/// `target`.
struct Written {
    /// Nothing of the target is left.
    bool fills() const {
        return scatters[0]->as<ScatterAttr>().complete || target->op == Op::Empty;
    }
    std::vector<const Node*> scatters;  // empty: the value is not written by position
    Ref target;
    const Node* loop = nullptr;  // the Loop inside the kernel whose iterations combine; null: none
    const Shape& positions() const { return scatters[0]->inputs[1]->shape; }
    explicit operator bool() const { return !scatters.empty(); }
};
/// Returns how a value is written: a Scatter that is no function of its result's index, or a Result
/// of a Loop inside a kernel, whose iterations combine into it.
Written written(const Node& node, const std::unordered_set<const Node*>& host_loops);

}  // namespace firn
