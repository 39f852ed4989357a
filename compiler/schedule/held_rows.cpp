// Groups that hold rows: the invocations keep the elements in registers while the group combines
// them.
#include "compiler/schedule/held_rows.h"

#include <algorithm>
#include <cmath>

#include "compiler/kernel/rows.h"
#include "compiler/schedule/costs.h"
#include "compiler/schedule/row_staging.h"
#include "compiler/schedule/small_loops.h"
#include "compiler/schedule/trip_counts.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Returns the number of neighbours along an axis that one invocation is likely to compute.
double likely_tile(const Size& extent) {
    for (int64_t tile = costs::kLargestTile; tile > 1; tile /= 2)
        if (extent.divisor() % tile == 0) return static_cast<double>(tile);
    return 1;
}

/// The elements of a row that each lane holds, and the number of subgroups that hold the row,
/// including lanes beyond its end; 0 if no group can hold it.
struct HeldRow {
    double tile = 0, subgroups = 0;
};
HeldRow held_row(const ScheduleFacts& facts, const Size& row) {
    const auto tile =
        static_cast<double>(row_tile(row, costs::kLargestTile, facts.profile, facts.symbols));
    if (tile == 0) return {};
    return {tile, std::ceil(estimate(row, facts.symbols) / tile / facts.profile.subgroup_size)};
}

/// Returns the only kernel that asks for a value of its own shape, at its own index and at others
/// of its row; null if there is none.
const Node* only_row_asker(Draft& draft, const Node& node) {
    const RegionFacts& regions = draft.facts.regions;
    const std::set<Ask>& asks = draft.round.asks.at(&node);
    const Node& root = *asks.begin()->root;
    if (root.shape != node.shape || node.shape.empty() || written(draft.facts, root) ||
        is_stored_by_hand(root))
        return nullptr;
    if (home_loop(regions, root) != home_loop(regions, node)) return nullptr;
    const int own = draft.maps.identity(node.shape);
    const auto in_own_row = [&](const Ask& a) {
        return a.root == &root && draft.maps.same_row(a.map, own);
    };
    return asks.size() > 1 && std::all_of(asks.begin(), asks.end(), in_own_row) ? &root : nullptr;
}

/// True if a group can hold the row, and if that costs less than the memory that it saves.
bool gains_by_holding(Draft& draft, const ValueVerdict& v) {
    const ScheduleFacts& facts = draft.facts;
    if (in_small_loop(facts, *v.value)) return false;
    // A group that holds a row shares no operand of its products with other rows.
    if (rules_of(facts.profile).packs_operands && reduces_long(draft, *v.value)) return false;
    const Shape& shape = v.value->shape;
    const double row = estimate(shape.back(), facts.symbols);
    const HeldRow held = held_row(facts, shape.back());
    if (row < costs::kLeastHeldRow || held.subgroups == 0) return false;
    const double compute =
        v.elements * facts.seconds.at(v.value.get()) * idle_factor(v.elements, facts.profile);
    const double waste = held.subgroups * held.tile * facts.profile.subgroup_size / row - 1;
    const double passes = static_cast<double>(draft.round.asks.at(v.value.get()).size()) - 1;
    const double extra =
        compute * waste + passes * expected_runs(facts.regions, facts.symbols, *v.value) *
                              combine_seconds(facts, shape);
    return extra < v.materialise_seconds - compute;
}

}  // namespace

bool combines_in_groups(Draft& draft, const Node& node, const std::set<Ask>& asks) {
    const NodeSet& holds_rows = draft.findings.holds_rows;
    if (holds_rows.empty() || node.op != Op::Reduce) return false;
    const Shape& whole = node.inputs[0]->shape;
    const std::vector<int>& axes = node.as<ReduceAttr>().axes;
    if (axes.size() != 1 || axes[0] + 1 != static_cast<int>(whole.size())) return false;
    const DType type = node.inputs[0]->dtype;
    if (!type.is_half() && !lanes_exchange(type)) return false;
    return std::all_of(asks.begin(), asks.end(), [&](const Ask& a) {
        return holds_rows.contains(a.root) && a.root->shape == whole &&
               draft.maps.begins(a.map, draft.maps.identity(whole));
    });
}

void combine_in_groups(Draft& draft, const Node& node, const std::set<Ask>& asks) {
    for (const Ask& a : asks) {
        draft.round.row_reductions[a.root].push_back(&node);
        ask(draft, *node.inputs[0], {a.root, draft.maps.identity(a.root->shape), a.starts});
    }
}

double combine_seconds(const ScheduleFacts& facts, const Shape& shape) {
    const double lanes = facts.profile.subgroup_size,
                 subgroups = held_row(facts, shape.back()).subgroups;
    if (subgroups <= 1) return 0;
    const double rows = expected_elements(Shape(shape.begin(), shape.end() - 1), facts.symbols);
    const double tile = shape.size() > 1 ? likely_tile(shape[shape.size() - 2]) : 1;
    const double loads = subgroups > lanes ? subgroups / lanes + costs::kExchange
                                           : std::ceil(subgroups * tile / lanes);
    return rows / tile * subgroups * (loads + costs::kExchange) * lanes *
           facts.profile.shared_loads * facts.profile.seconds_per_load;
}

bool note_held_rows(Draft& draft) {
    Findings& findings = draft.findings;
    bool changed = false;
    for (const ValueVerdict& v : draft.round.verdicts) {
        if (v.verdict != Verdict::Materialised) continue;
        if (const auto by = findings.held_by.find(v.value.get());
            by != findings.held_by.end() && findings.holds_rows.erase(by->second))
            changed = true;
        if (v.reason != kReasonDearer && v.reason != kReasonStage) continue;
        const Node* root = only_row_asker(draft, *v.value);
        if (!root || !gains_by_holding(draft, v) ||
            !findings.held_by.emplace(v.value.get(), root).second)
            continue;
        changed |= findings.holds_rows.insert(root).second;
    }
    return changed;
}

}  // namespace firn
