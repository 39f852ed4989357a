// Values that are joined from parts are stored part by part.
#include "compiler/schedule/store_parts.h"

#include <algorithm>

#include "compiler/ir/builder.h"
#include "compiler/ir/joined_parts.h"
#include "compiler/kernel/bindings.h"
#include "compiler/program/cost_table.h"
#include "compiler/schedule/binding_pressure.h"
#include "compiler/schedule/costs.h"
#include "compiler/schedule/schedule_facts.h"
#include "compiler/schedule/trip_counts.h"

namespace firn {
namespace {

/// Neighbours along the last axis of a part are neighbours in memory, enough to fill its loads.
bool is_contiguous(const Node& node, const JoinedParts& joined, const SymbolFacts& facts) {
    Shape run(node.shape.begin() + joined.axis, node.shape.end());
    run[0] = joined.extent;
    return expected_elements(run, facts) >= costs::kBeside;
}

/// Each part may come to be a tensor in memory.
bool can_bind(const Node& node, const JoinedParts& joined, const ScheduleFacts& facts) {
    if (joined.sides.size() > costs::kMaxOutputs) return false;
    BindingCount count;
    count.add(bound_value(node, true), facts.profile, facts.symbols);
    for (size_t k = 0; k < joined.sides.size(); ++k)
        count.add(bound_value(node, false), facts.profile, facts.symbols);
    return count.fits(facts.profile);
}

/// The part itself, below the padding around it.
const Node& computed(const Node& side) {
    const Node* at = &side;
    while (is_movement(at->op)) at = at->inputs[0].get();
    return *at;
}

/// What is computed for nothing, or goes through memory, where the value is a choice.
double saved_seconds(const Node& node, const JoinedParts& joined, const Schedule& schedule,
                     const ScheduleFacts& facts) {
    const double parts = static_cast<double>(joined.sides.size()),
                 elements = expected_elements(node.shape, facts.symbols) / parts;
    double saved = 0;
    for (const Node* side : joined.sides) {
        const Node& part = computed(*side);
        if (schedule.materialised.contains(&part))
            saved += elements * 2 * node.dtype.bytes() / facts.profile.bytes_per_second;
        else if (!has_memory(facts.regions, part))
            saved += elements * (parts - 1) * facts.seconds.at(&part);
    }
    return saved;
}

/// Values whose kernels compute nothing but values that are joined alike, of parts that are joined
/// of none: stored by part they need no kernel more.
NodeSet joined_alike(const std::vector<ScheduleItem>& items) {
    NodeSet out;
    for (const ScheduleItem& item : items) {
        out.merge(joined_alike(item.body));
        if (item.outputs.empty()) continue;
        const auto first = joined_parts(*item.outputs[0]);
        const auto is_like_it = [&](const Ref& output) {
            const auto other = joined_parts(*output);
            return first && other && other->axis == first->axis && other->extent == first->extent &&
                   std::none_of(other->sides.begin(), other->sides.end(),
                                [](const Node* side) { return joined_parts(computed(*side)); });
        };
        if (std::all_of(item.outputs.begin(), item.outputs.end(), is_like_it))
            for (const Ref& output : item.outputs) out.insert(output.get());
    }
    return out;
}

/// `alone`: as joined_alike() says.
bool pays(const Node& node, const Schedule& schedule, const ScheduleFacts& facts, bool alone) {
    if (node.dtype.bytes() < 4) return false;  // several elements of a word are stored together
    const auto joined = joined_parts(node);
    return joined && is_contiguous(node, *joined, facts.symbols) &&
           can_bind(node, *joined, facts) &&
           saved_seconds(node, *joined, schedule, facts) >
               (alone ? 0 : facts.profile.seconds_per_launch);
}

/// The positions are those of a part, without its axis where that has one index.
Ref stored_by_part(const Builder& b, const Shape& shape, const JoinedParts& joined,
                   const std::vector<Ref>& sides) {
    const auto along = static_cast<size_t>(joined.axis);
    const bool flat = joined.extent.is(1);
    Shape positions = shape;
    positions[along] = joined.extent;
    if (flat) positions.erase(positions.begin() + joined.axis);
    Ref out = empty(b, sides[0]->dtype, shape);
    for (size_t k = 0; k < sides.size(); ++k) {
        const Ref values = reshape(b, part_of(b, joined, k, sides[k]), positions);
        const Ref begin = size_value(b, Size(static_cast<int64_t>(k)) * joined.extent);
        std::vector<Ref> at;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            if (axis == along && flat) {
                at.push_back(expand(b, begin, positions));
                continue;
            }
            const bool behind = flat && axis > along;
            const Ref own = index(b, positions, static_cast<int>(axis) - behind);
            at.push_back(axis == along ? elementwise(b, Op::Add, {own, begin}) : own);
        }
        out = scatter(b, out, values, std::move(at),
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
    const NodeSet alone = joined_alike(schedule.items);
    NodeSet chosen;
    for (const Node* node : schedule.materialised)
        if (pays(*node, schedule, facts, alone.contains(node))) chosen.insert(node);
    if (chosen.empty()) return graph;
    const auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (!chosen.contains(&node)) return nullptr;
        const JoinedParts joined = *joined_parts(node);
        std::vector<Ref> sides{inputs[1]};
        Ref rest = inputs[2];
        for (; sides.size() + 1 < joined.sides.size(); rest = rest->inputs[2]) {
            if (rest->op != Op::Select) return nullptr;  // became a version itself
            sides.push_back(rest->inputs[1]);
        }
        sides.push_back(rest);
        Builder b{table, node.lines.empty() ? SourceLine{} : node.lines[0]};
        const Ref made = stored_by_part(b, node.shape, joined, sides);
        note_lines(*made, node.lines);
        return made;
    };
    return {graph.args, rewrite(table, graph.results, visit), graph.guards, graph.data_sizes};
}

}  // namespace firn
