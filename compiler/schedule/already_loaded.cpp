// Estimates the cost of a value in a kernel that already has, or loads, some of what it needs.
#include "compiler/schedule/already_loaded.h"

#include <algorithm>

#include "compiler/schedule/costs.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Visits the maps at which the kernel of `ask` asks, among all asks of a value.
template <class Visit>
void for_asks_of(const std::set<Ask>& asks, const Ask& ask, Visit visit) {
    const auto is_of_kernel = [&](const Ask& other) {
        return other.root == ask.root && other.starts == ask.starts;
    };
    for (auto it = asks.lower_bound({ask.root, INT32_MIN, ask.starts});
         it != asks.end() && is_of_kernel(*it); ++it)
        visit(it->map);
}

struct Follower {
    const AlreadyLoaded& already_loaded;
    const ScheduleFacts& facts;
    AccessMaps& maps;
    std::set<std::pair<const Node*, int>> seen;

    double load(const Node& node, const Ask& ask) const {
        double share = 1;
        const auto before = already_loaded.asks.find(&node);
        if (before == already_loaded.asks.end()) return facts.profile.seconds_per_load;
        for_asks_of(before->second, ask, [&](int map) {
            const auto axis = maps.beside(map, ask.map);
            if (!axis || *axis > 1) return;
            const Size& extent = node.shape[node.shape.size() - 1 - static_cast<size_t>(*axis)];
            if (extent.divisor() % costs::kSharedTile[*axis] == 0)
                share = std::min(share, 1.0 / static_cast<double>(costs::kSharedTile[*axis]));
        });
        return facts.profile.seconds_per_load * share;
    }

    double seconds(const Node& node, const Ask& ask, bool first) {
        if (is_free(facts, node) || !seen.insert({&node, ask.map}).second) return 0;
        if (const auto before = already_loaded.asks.find(&node);
            !first && before != already_loaded.asks.end() && before->second.contains(ask))
            return 0;
        if (!first &&
            (already_loaded.materialised.contains(&node) || has_memory(facts.regions, node)))
            return load(node, ask);
        if (!is_computed(facts, node) || seen.size() > costs::kMostBesideFollowed)
            return facts.seconds.at(&node);
        double total = 1 / facts.profile.operations_per_second * own_operations(node);
        for (size_t k = 0; k < node.inputs.size(); ++k)
            total += seconds(
                *node.inputs[k],
                {ask.root, maps.input_map(node, static_cast<int>(k), ask.map), ask.starts}, false);
        return total;
    }
};

}  // namespace

double seconds_beside(const Node& node, const Ask& ask, const AlreadyLoaded& already_loaded,
                      const ScheduleFacts& facts, AccessMaps& maps) {
    return Follower{already_loaded, facts, maps, {}}.seconds(node, ask, true);
}

}  // namespace firn
