// Stores values that are joined from parts, such as stacks, part by part.
#include "compiler/passes/profiled/store_parts.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/joined_parts.h"
#include "compiler/kernel/bindings.h"
#include "compiler/schedule/binding_pressure.h"
#include "compiler/schedule/costs.h"
#include "compiler/schedule/schedule_facts.h"
#include "compiler/schedule/trip_counts.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

using Found = std::unordered_map<const Node*, PlacedParts>;

/// True if neighbours along the last axis of a part are neighbours in memory, and enough of them to
/// fill its loads.
bool is_contiguous(const PlacedParts& placed, const SymbolFacts& facts) {
    const Shape run(placed.extents.begin() + placed.axes.back(), placed.extents.end());
    return expected_elements(run, facts) >= costs::kBeside;
}

/// True if the kernel can bind every part even if each becomes a tensor in memory.
bool can_bind(const Node& node, const PlacedParts& placed, const ScheduleFacts& facts) {
    if (placed.parts.size() > costs::kMaxOutputs) return false;
    BindingCount count;
    count.add(bound_value(node, true), facts.profile, facts.symbols);
    for (size_t k = 0; k < placed.parts.size(); ++k)
        count.add(bound_value(node, false), facts.profile, facts.symbols);
    return count.fits(facts.profile);
}

/// Returns the part itself, below the padding around it.
const Node& computed(const PlacedPart& part) {
    const Node* at = part.value.get();
    while (is_movement(at->op)) at = at->inputs[0].get();
    return *at;
}

/// Returns the seconds that the value costs as a choice for parts that are computed for nothing, or
/// that go through memory.
double saved_seconds(const Node& node, const PlacedParts& placed, const Schedule& schedule,
                     const ScheduleFacts& facts) {
    const double parts = static_cast<double>(placed.parts.size()),
                 elements = expected_elements(placed.extents, facts.symbols);
    double saved = 0;
    for (const PlacedPart& one : placed.parts) {
        const Node& part = computed(one);
        if (schedule.materialised.contains(&part))
            saved += elements * 2 * node.dtype.bytes() / facts.profile.bytes_per_second;
        else if (!has_memory(facts.regions, part))
            saved += elements * (parts - 1) * facts.seconds.at(&part);
    }
    return saved;
}

/// Returns the values whose kernels compute only values that are joined alike, of parts that are
/// not joined themselves: storing them part by part takes no additional kernel.
NodeSet joined_alike(const std::vector<ScheduleItem>& items, const Found& found) {
    NodeSet out;
    for (const ScheduleItem& item : items) {
        out.merge(joined_alike(item.body, found));
        if (item.outputs.empty()) continue;
        const auto first = found.find(item.outputs[0].get());
        const auto is_like_it = [&](const Ref& output) {
            const auto other = found.find(output.get());
            return first != found.end() && other != found.end() &&
                   other->second.axes == first->second.axes &&
                   other->second.extents == first->second.extents &&
                   std::none_of(
                       other->second.parts.begin(), other->second.parts.end(),
                       [](const PlacedPart& part) { return joined_parts(computed(part)); });
        };
        if (std::all_of(item.outputs.begin(), item.outputs.end(), is_like_it))
            for (const Ref& output : item.outputs) out.insert(output.get());
    }
    return out;
}

/// Returns the positions of a store of parts: the shape of a part, without joined axes of extent 1.
Shape positions_of(const PlacedParts& placed) {
    Shape out;
    for (size_t axis = 0; axis < placed.extents.size(); ++axis)
        if (!placed.along(static_cast<int>(axis)) || !placed.extents[axis].is(1))
            out.push_back(placed.extents[axis]);
    return out;
}

// --- values whose parts alternate

/// True if all parts of an element lie next to each other, as in a stack along the last axes. Such
/// a value wastes nothing as a choice, since copies know their parts, but it can then share a
/// kernel only with values of its own shape.
bool alternates(const Node& node, const PlacedParts& placed) {
    const auto kept = node.shape.size() - placed.axes.size();
    for (size_t k = 0; k < placed.axes.size(); ++k)
        if (static_cast<size_t>(placed.axes[k]) != kept + k || !placed.extents[kept + k].is(1))
            return false;
    return true;
}

/// A value that is, or may be, stored by the indices of `positions`.
struct Candidate {
    const Node* node = nullptr;
    const PlacedParts* parts = nullptr;  // null: it is not joined
    Shape positions;
    NodeSet work;                       // what its kernel computes
    std::vector<const Node*> in_order;  // the same, in the same order in every run
};

void find_work(Candidate& out, const Schedule& schedule, const ScheduleFacts& facts) {
    std::vector<const Node*> waiting{out.node};
    while (!waiting.empty()) {
        const Node& node = *waiting.back();
        waiting.pop_back();
        for (const Ref& input : node.inputs)
            if (!schedule.materialised.contains(input.get()) &&
                !has_memory(facts.regions, *input) && out.work.insert(input.get()).second) {
                waiting.push_back(input.get());
                out.in_order.push_back(input.get());
            }
    }
}

/// Returns the seconds, per position, of what both compute: a second kernel would compute it again.
double shared_seconds(const Candidate& a, const Candidate& b, const Schedule& schedule,
                      const ScheduleFacts& facts) {
    const auto is_kept = [&](const Ref& input) {
        return schedule.materialised.contains(input.get()) || has_memory(facts.regions, *input);
    };
    double seconds = 0;
    for (const Node* node : a.in_order) {
        if (!b.work.contains(node) || (info(node->op).properties & kLeaf)) continue;
        if (node->op == Op::Reduce || node->op == Op::Result) {
            seconds += facts.seconds.at(node);
            continue;
        }
        const auto loads = std::count_if(node->inputs.begin(), node->inputs.end(), is_kept);
        seconds += own_operations(*node) / facts.profile.operations_per_second +
                   static_cast<double>(loads) * facts.profile.seconds_per_load;
    }
    return seconds;
}

/// Returns the additional seconds, per position, of stores of single elements compared with stores
/// of blocks, if no four of them form a block (mapping/behind/store_in_blocks).
double scattered_seconds(const Candidate& one, const ScheduleFacts& facts) {
    if (!one.parts) return 0;
    const double slow = rules_of(facts.profile).store_operations,
                 store = slow > 0 ? slow / facts.profile.operations_per_second
                                  : facts.profile.seconds_per_load;
    return store * static_cast<double>(one.parts->parts.size()) * (1 - 1.0 / 4);
}

/// Returns the values whose parts alternate and that share more work with another value of the same
/// positions than their stores cost: stored part by part, the two can be computed by one kernel.
NodeSet shared_by_position(const Schedule& schedule, const Found& found,
                           const ScheduleFacts& facts) {
    const auto alternating = [&](const Node& node) -> const PlacedParts* {
        const auto joined = found.find(&node);
        const bool by_part = joined != found.end() && node.dtype.bytes() >= 4 &&
                             alternates(node, joined->second) &&
                             can_bind(node, joined->second, facts);
        return by_part ? &joined->second : nullptr;
    };
    std::vector<Shape> of_parts;
    for (const auto& [node, placed] : found)
        if (alternating(*node)) of_parts.push_back(positions_of(placed));
    if (of_parts.empty()) return {};
    std::vector<Candidate> near;  // values of the same positions
    for (const Ref& ref : facts.regions.order) {
        if (!schedule.materialised.contains(ref.get())) continue;
        const PlacedParts* parts = alternating(*ref);
        Candidate one{ref.get(), parts, parts ? positions_of(*parts) : ref->shape, {}, {}};
        if (std::find(of_parts.begin(), of_parts.end(), one.positions) == of_parts.end()) continue;
        find_work(one, schedule, facts);
        near.push_back(std::move(one));
    }
    NodeSet out;
    for (size_t k = 0; k < near.size(); ++k)
        for (size_t j = k + 1; j < near.size(); ++j) {
            const Candidate &a = near[k], &b = near[j];
            if (!(a.parts || b.parts) || a.positions != b.positions ||
                home_loop(facts.regions, *a.node) != home_loop(facts.regions, *b.node))
                continue;
            const double elements = expected_elements(a.positions, facts.symbols),
                         saved = shared_seconds(a, b, schedule, facts) -
                                 scattered_seconds(a, facts) - scattered_seconds(b, facts);
            if (elements * saved + seconds_per_step(facts, *a.node) <= 0) continue;
            for (const Candidate* one : {&a, &b})
                if (one->parts) out.insert(one->node);
        }
    return out;
}

// --- the graph

/// True if storing the value part by part saves more than it costs. `alone`: see joined_alike().
bool pays(const Node& node, const PlacedParts& placed, const Schedule& schedule,
          const ScheduleFacts& facts, bool alone) {
    if (node.dtype.bytes() < 4) return false;  // several elements of a word are stored together
    return is_contiguous(placed, facts.symbols) && can_bind(node, placed, facts) &&
           saved_seconds(node, placed, schedule, facts) >
               (alone ? 0 : seconds_per_step(facts, node));
}

using Uses = std::unordered_map<const Node*, int>;

/// Removes from `chosen` the values that are joined only to become parts of `outer`, down to so
/// many levels: they are stored with it.
void leave_inner(const Node& outer, size_t levels, const Uses& uses, NodeSet& chosen) {
    const auto joined = joined_parts(outer);
    if (!joined || levels == 0) return;
    for (const Node* side : joined->sides) {
        while ((side->op == Op::Pad || side->op == Op::Reshape) && uses.at(side) == 1)
            side = side->inputs[0].get();
        if (uses.at(side) > 1) continue;
        chosen.erase(side);
        leave_inner(*side, levels - 1, uses, chosen);
    }
}

Ref stored_by_part(const Builder& b, const Shape& shape, const PlacedParts& placed) {
    const Shape positions = positions_of(placed);
    Ref out = empty(b, placed.parts[0].value->dtype, shape);
    for (const PlacedPart& part : placed.parts) {
        std::vector<Ref> at;
        int own = 0;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const bool joined = placed.along(static_cast<int>(axis));
            const Ref begin = joined ? size_value(b, part.begin[axis]) : nullptr;
            if (joined && placed.extents[axis].is(1)) {
                at.push_back(expand(b, begin, positions));
                continue;
            }
            const Ref place = index(b, positions, own++);
            at.push_back(joined ? elementwise(b, Op::Add, {place, begin}) : place);
        }
        out = scatter(b, out, reshape(b, part.value, positions), std::move(at),
                      {.op = ScatterOp::Last, .unique = true, .part = true});
    }
    return out;
}

}  // namespace

Graph store_parts(NodeTable& table, const Graph& graph, const Schedule& schedule,
                  const DeviceProfile& profile, const SymbolFacts& symbols) {
    const auto is_joined = [](const Node* node) { return joined_parts(*node).has_value(); };
    if (std::none_of(schedule.materialised.begin(), schedule.materialised.end(), is_joined))
        return graph;
    const ScheduleFacts facts = schedule_facts(graph, profile, symbols, true);
    const auto builder_at = [&](const Node& node) {
        return Builder{table, first_line(node.lines)};
    };
    Found found;
    // Only choices themselves are looked at: a choice inside an additional axis is a value with
    // memory of its own.
    for (const Ref& ref : facts.regions.order)
        if (schedule.materialised.contains(ref.get()) && is_joined(ref.get()))
            if (auto placed = placed_parts(builder_at(*ref), ref, costs::kMaxOutputs))
                found.emplace(ref.get(), std::move(*placed));
    const NodeSet alone = joined_alike(schedule.items, found);
    NodeSet chosen = shared_by_position(schedule, found, facts);
    for (const auto& [node, placed] : found)
        if (pays(*node, placed, schedule, facts, alone.contains(node))) chosen.insert(node);
    if (chosen.empty()) return graph;
    Uses uses;
    for (const Ref& ref : facts.regions.order)
        for (const Ref& input : ref->inputs) ++uses[input.get()];
    // The outermost values come first: a value that is stored with another one removes nothing
    // itself.
    for (auto ref = facts.regions.order.rbegin(); ref != facts.regions.order.rend(); ++ref)
        if (chosen.contains(ref->get()))
            leave_inner(**ref, found.at(ref->get()).axes.size() - 1, uses, chosen);
    const auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (!chosen.contains(&node)) return nullptr;
        const Builder b = builder_at(node);
        const auto placed = placed_parts(b, elementwise(b, Op::Select, inputs), costs::kMaxOutputs);
        if (!placed) return nullptr;  // one side became a version
        const Ref made = stored_by_part(b, node.shape, *placed);
        note_lines(*made, node.lines);
        return made;
    };
    return {graph.args, rewrite(table, graph.results, visit), graph.guards, graph.data_sizes};
}

}  // namespace firn
