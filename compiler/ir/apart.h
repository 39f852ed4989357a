// Proofs that different invocations of a kernel by hand touch different elements.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "compiler/ir/graph.h"

namespace firn {

/// The invocations that are compared: all of a kernel, or (`same_group`) those of one group.
struct Invocations {
    const Shape& grid;
    const std::vector<uint32_t>& group;
    bool same_group = false;
    /// A node may differ from one invocation, or from one iteration of a loop inside, to another.
    std::function<bool(const Node&)> varies;
};

/// An index of an access, and the axis of the memory that it is an index of.
struct PlaceIndex {
    const Node* index = nullptr;
    Size extent;
    Bounds mode = Bounds::Constant;  // treatment of an index outside; a store's is dropped
};

/// Returns whether no invocation touches at `a` an element that another touches at `b`. Indices are
/// sums of multiples of invocation indices and of other values; two sums differ by their remainders
/// (2 i and 2 i + 1), by their ranges (i and i + 64, for i below 64), or, where they are the same,
/// because different invocations give different values.
bool proved_apart(std::span<const PlaceIndex> a, std::span<const PlaceIndex> b,
                  const Invocations& invocations);

/// True when an access at the index touches that index itself, or nothing: an invocation outside
/// neither reads at the edge nor wraps around.
bool touches_only_index(const PlaceIndex& place, const Invocations& invocations);

}  // namespace firn
