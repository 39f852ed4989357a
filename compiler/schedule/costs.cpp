// Estimates what one element of a value costs a kernel, and how well a grid fills the device.
#include "compiler/schedule/costs.h"

#include <algorithm>
#include <set>

#include "compiler/ir/affine_index.h"
#include "compiler/schedule/small_loops.h"
#include "compiler/schedule/trip_counts.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

using Seconds = std::unordered_map<const Node*, double>;

/// True if the index is one number for all elements.
bool is_same_for_all(const Node& index) {
    return index.rank() == 0 || (index.op == Op::Expand && index.inputs[0]->rank() == 0);
}

/// Returns the simple operations of an indexed read: those of the access, and of the axes whose
/// index is neither the same for all elements nor the reader's own. Reading whole rows as they lie
/// in memory costs as little as reading a copy of them.
double read_operations(const Node& gather) {
    const Node& from = *gather.inputs[0];
    int moved = 0;
    bool rows = !from.shape.empty();
    for (size_t j = 0; j < from.shape.size(); ++j) {
        const auto known = affine_index(*gather.inputs[j + 1]);
        const bool fixed = is_same_for_all(*gather.inputs[j + 1]) || (known && known->axis < 0),
                   own = known && !fixed && known->offset.is(0) &&
                         gather.shape[static_cast<size_t>(known->axis)] == from.shape[j];
        moved += !fixed && !own;
        if (j + 1 == from.shape.size()) rows = own && known->axis + 1 == gather.rank();
    }
    return moved || !rows ? costs::kIndexOperations * (moved + 1) : 0;
}

double result_seconds(const Node& node, Seconds& seconds, const SymbolFacts& symbols) {
    const Node& owner = *node.inputs[0];
    double cost = 0;
    if (owner.op == Op::Loop) {
        for (const Ref& r : owner.as<LoopAttr>().body->results)
            cost += seconds[r.get()] * std::max(1.0, expected_trips(owner, symbols));
        return cost;
    }
    for (const auto& body : {owner.as<IfAttr>().then_body, owner.as<IfAttr>().else_body})
        cost += seconds[body->results[node.as<ResultAttr>().index].get()];
    return cost;
}

/// Returns, for each value `end`, the values that are used more than once and whose uses all end in
/// `end`, element by element and equally often. In `y = f(x); z = y * g(y)`, y serves z alone if
/// nothing else uses it.
std::unordered_map<const Node*, std::vector<const Node*>> served_alone(const ScheduleFacts& facts) {
    struct Uses {
        int count = 0;
        const Node* end = nullptr;  // of all uses so far
    };
    const RegionFacts& regions = facts.regions;
    std::unordered_map<const Node*, Uses> uses;
    const auto use = [&](const Node& value, const Node* end) {
        Uses& all = uses[&value];
        if (all.count++ == 0) all.end = end;
        for (int k = 0; k < costs::kMostFollowedToEnd && all.end != end && all.end && end; ++k) {
            const bool later = regions.position.at(all.end) > regions.position.at(end);
            const Node*& earlier = later ? end : all.end;
            earlier = uses[earlier].end;
        }
        if (all.end != end) all.end = nullptr;
    };
    for (const Ref& result : facts.graph.results) use(*result, nullptr);
    std::unordered_map<const Node*, std::vector<const Node*>> served;
    for (size_t k = regions.order.size(); k-- > 0;) {
        const Node& node = *regions.order[k];
        if (const Uses& all = uses[&node]; all.count > 1 && all.end)
            served[all.end].push_back(&node);
        for (const Ref& result : region_results(node)) use(*result, nullptr);
        for (const Ref& input : node.inputs) {
            const bool as_often = is_elementwise(node.op) && node.shape == input->shape &&
                                  node.dtype.bytes() <= input->dtype.bytes() &&
                                  regions.loops.at(&node) == regions.loops.at(input.get());
            use(*input, as_often ? &node : nullptr);
        }
    }
    return served;
}

/// An input that serves other values too, or many elements of this one, would be kept in memory if
/// that is cheaper. An input that serves only this node would not be: the node itself would.
double inputs_seconds(const Node& node, Seconds& seconds,
                      std::unordered_map<const Node*, int>& uses, double load) {
    double cost = 0;
    std::set<const Node*> distinct;
    for (const Ref& input : node.inputs)
        if (distinct.insert(input.get()).second)
            cost += uses[input.get()] > 1 || node.op == Op::Expand
                        ? std::min(seconds[input.get()], load)
                        : seconds[input.get()];
    return cost;
}

/// Returns the share of one value in what its loop costs the driver's compiler.
double loop_in_body(const Node& node) {
    if (node.op == Op::Reduce) {
        Size trips = 1;
        for (int axis : node.as<ReduceAttr>().axes) trips = trips * node.inputs[0]->shape[axis];
        if (!trips.is_constant()) return costs::kLoopInBody;
        // A short loop is unrolled.
        const double written_out = costs::kIndexOperations * static_cast<double>(trips.constant());
        return std::min(costs::kLoopInBody, written_out);
    }
    if (node.op != Op::Result || node.inputs[0]->op != Op::Loop) return 0;
    const Node& loop = *node.inputs[0];
    const LoopAttr& attr = loop.as<LoopAttr>();
    if (attr.by_hand()) return 0;
    const size_t carried = loop.inputs.size() - 3, asked = carried - (attr.active >= 0);
    return costs::kLoopInBody / static_cast<double>(std::max<size_t>(1, asked));
}

}  // namespace

double own_operations(const Node& node) {
    if (is_elementwise(node.op)) return operation_cost(node.op);
    if (node.op == Op::Gather) return read_operations(node);
    return !is_movement(node.op) || node.op == Op::Pad ? costs::kIndexOperations * (node.rank() + 1)
                                                       : 0;
}

double body_operations(const Node& node) {
    const double own = is_elementwise(node.op) ? body_cost(info(node.op)) : own_operations(node);
    return std::max(1.0, own) + loop_in_body(node);
}

Seconds element_seconds(const ScheduleFacts& facts) {
    const double operation = 1 / facts.profile.operations_per_second,
                 load = facts.profile.seconds_per_load;
    std::unordered_map<const Node*, int> uses;
    for (const Ref& ref : facts.regions.order)
        for (const Ref& input : ref->inputs) ++uses[input.get()];
    const auto served = served_alone(facts);
    Seconds seconds;
    for (const Ref& ref : facts.regions.order) {
        const Node& node = *ref;
        double cost = 0;
        if (facts.numbers.place.contains(&node)) {
            cost = 0;
        } else if (has_memory(facts.regions, node)) {
            cost = load;
        } else if (node.op == Op::Reduce) {
            cost =
                reduction_trips(node, facts.symbols) * (seconds[node.inputs[0].get()] + operation);
        } else if (node.op == Op::Result) {
            cost = result_seconds(node, seconds, facts.symbols);
        } else if (!(info(node.op).properties & kLeaf)) {
            cost = inputs_seconds(node, seconds, uses, load);
            if (const auto it = served.find(&node); it != served.end())
                for (const Node* input : it->second) cost += std::max(0.0, seconds[input] - load);
            if (!widens_a_load(node, facts.profile)) cost += operation * own_operations(node);
        }
        seconds[&node] = cost;
    }
    return seconds;
}

bool is_free(const ScheduleFacts& facts, const Node& node) {
    return (info(node.op).properties & kLeaf && !has_memory(facts.regions, node)) ||
           known_to_host(facts.numbers, node);
}

bool is_computed(const ScheduleFacts& facts, const Node& node) {
    return (is_elementwise(node.op) || is_movement(node.op) || node.op == Op::Gather) &&
           !is_of_invocations(facts.regions, node) && !written(facts, node);
}

bool widens_a_load(const Node& node, const DeviceProfile& profile) {
    if (!rules_of(profile).loads_narrow || node.op != Op::Cast) return false;
    return node.dtype.bytes() == 4 && node.inputs[0]->dtype.bytes() < 4;
}

double idle_factor(double grid, const DeviceProfile& profile) {
    return std::max(1.0, profile.parallel_invocations / std::max(1.0, grid));
}

double seconds_per_step(const ScheduleFacts& facts, const Node& node) {
    return facts.profile.seconds_per_launch *
           (in_small_loop(facts, node) ? rules_of(facts.profile).barrier_of_launch : 1);
}

double sharing_lanes(const ScheduleFacts& facts, const Node& root, double trips) {
    const DeviceProfile& profile = facts.profile;
    return lanes_share(profile) && trips >= costs::kSharedRow * profile.subgroup_size &&
                   !in_small_loop(facts, root)
               ? profile.subgroup_size
               : 1;
}

}  // namespace firn
