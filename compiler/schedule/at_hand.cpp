// What a kernel has at hand already: a value computed from it costs less than its own parts say.
#include "compiler/schedule/at_hand.h"

#include <algorithm>

#include "compiler/ir/affine_index.h"

namespace firn {
namespace {

constexpr int kMostFollowed = 64;  // values between the one that is judged and what is at hand
constexpr int64_t kTile[] = {
    4, 2};  // neighbours along x and y that one invocation is likely to compute

/// Axes of the tensor that is read whose index is neither a constant nor simply the reader's own.
int moved_axes(const Node& gather) {
    const Node& from = *gather.inputs[0];
    int moved = 0;
    for (size_t j = 0; j < from.shape.size(); ++j) {
        const auto known = affine_index(*gather.inputs[j + 1]);
        const bool fixed = known && known->axis < 0;
        moved +=
            !fixed && !(known && known->offset.is(0) && gather.shape[known->axis] == from.shape[j]);
    }
    return moved;
}

/// The asks of a root among all asks of a value.
template <class Visit>
void for_asks_of(const std::set<Ask>& asks, const Node* root, Visit visit) {
    for (auto it = asks.lower_bound({root, INT32_MIN}); it != asks.end() && it->root == root; ++it)
        visit(it->map);
}

struct Follower {
    const AtHand& at_hand;
    const ElementCosts& costs;
    AccessMaps& maps;
    std::set<std::pair<const Node*, int>> seen;

    double load(const Node& node, const Ask& ask) const {
        double share = 1;
        const auto before = at_hand.asks.find(&node);
        if (before == at_hand.asks.end()) return costs.load;
        for_asks_of(before->second, ask.root, [&](int map) {
            const auto axis = maps.beside(map, ask.map);
            if (!axis || *axis > 1) return;
            const Size& extent = node.shape[node.shape.size() - 1 - static_cast<size_t>(*axis)];
            if (extent.divisor() % kTile[*axis] == 0)
                share = std::min(share, 1.0 / static_cast<double>(kTile[*axis]));
        });
        return costs.load * share;
    }

    double seconds(const Node& node, const Ask& ask, bool first) {
        if (costs.is_free(node) || !seen.insert({&node, ask.map}).second) return 0;
        if (const auto before = at_hand.asks.find(&node);
            !first && before != at_hand.asks.end() && before->second.contains(ask))
            return 0;
        if (!first && (at_hand.materialised.contains(&node) || costs.is_in_memory(node)))
            return load(node, ask);
        if (!costs.is_computed(node) || seen.size() > kMostFollowed) return costs.seconds.at(&node);
        double total = costs.operation * own_operations(node);
        for (size_t k = 0; k < node.inputs.size(); ++k)
            total += seconds(*node.inputs[k],
                             {ask.root, maps.input_map(node, static_cast<int>(k), ask.map)}, false);
        return total;
    }
};

}  // namespace

double own_operations(const Node& node) {
    if (is_elementwise(node.op)) return operation_cost(node.op);
    if (node.op == Op::Gather) return 3.0 * (moved_axes(node) + 1);
    return !is_movement(node.op) || node.op == Op::Pad ? 3.0 * (node.rank() + 1) : 0;
}

double seconds_beside(const Node& node, const Ask& ask, const AtHand& at_hand,
                      const ElementCosts& costs, AccessMaps& maps) {
    return Follower{at_hand, costs, maps, {}}.seconds(node, ask, true);
}

}  // namespace firn
