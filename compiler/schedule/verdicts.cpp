// Makes the verdicts by cost: where each value lives.
#include "compiler/schedule/verdicts.h"

#include <algorithm>

#include "compiler/schedule/costs.h"
#include "compiler/schedule/crowded_kernels.h"
#include "compiler/schedule/held_rows.h"
#include "compiler/schedule/products.h"
#include "compiler/schedule/row_staging.h"
#include "compiler/schedule/small_loops.h"
#include "compiler/schedule/streams.h"
#include "compiler/schedule/trip_counts.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// True if another result of its loop, of the same shape, leaves a kernel already, and if some
/// asking root cannot be part of that kernel: the value then leaves it too, without iterations or a
/// launch of its own.
bool leaves_with_its_loop(Draft& draft, const Node& node, const std::set<Ask>& asks) {
    const auto& leaving = draft.findings.leaving_loops;
    const Node* loop = loop_of_result(draft.facts.regions, node);
    const auto it = loop ? leaving.find(loop) : leaving.end();
    if (it == leaving.end() || it->second != node.shape) return false;
    const int own = draft.maps.identity(node.shape);
    return std::any_of(asks.begin(), asks.end(), [&](const Ask& a) {
        return a.starts || a.map != own || grid_shape(draft.facts.regions, *a.root) != node.shape ||
               draft.round.inner.contains(a.root);
    });
}

/// True if a kernel that asks for the value has a long body already that a load in the value's
/// place would shorten.
bool overgrown(const Draft& draft, const Node& node, const std::set<Ask>& asks) {
    const ScheduleFacts& facts = draft.facts;
    const double load = costs::kIndexOperations * (node.rank() + 1),
                 all = facts.seconds.at(&node) * facts.profile.operations_per_second;
    return all > load && std::any_of(asks.begin(), asks.end(), [&](const Ask& a) {
               return draft.round.operations.at(a.root) >= draft.facts.profile.max_body_operations;
           });
}

/// True for the result of a loop inside a kernel that is asked for in the iterations of a
/// reduction, if both together may take more back edges than the driver allows an invocation.
/// Symbols count with the largest values that they can have.
bool exceeds_back_edges(const Draft& draft, const Node& node, const std::set<Ask>& asks) {
    const ScheduleFacts& facts = draft.facts;
    const Node* loop = loop_of_result(facts.regions, node);
    if (!facts.profile.max_back_edges || !loop) return false;
    return std::any_of(asks.begin(), asks.end(), [&](const Ask& a) {
        const double trips = draft.maps.trips(a.map);
        // The end of the inner loop takes one, and the outer loop's own back edge another.
        const double inside = most_trips(*loop, facts.numbers, facts.profile, facts.symbols) + 2;
        return trips > 1 && costs::kSymbolShare * trips * inside > facts.profile.max_back_edges;
    });
}

bool asked_in_a_range(const AccessMaps& maps, const std::set<Ask>& asks) {
    return std::any_of(asks.begin(), asks.end(),
                       [&](const Ask& a) { return maps.trips(a.map) > 1; });
}

/// Returns the reason for which no kernel that asks for the value may compute it at any cost; null
/// if all may.
const char* banned_from_askers(const Draft& draft, const Node& node, const std::set<Ask>& asks) {
    if (std::any_of(asks.begin(), asks.end(),
                    [&](const Ask& ask) { return are_too_many(asks, *ask.root); }))
        return kReasonBudget;
    if (overgrown(draft, node, asks)) return kReasonLarge;
    if (exceeds_back_edges(draft, node, asks)) return kReasonTrips;
    const bool repeats = node.op == Op::Reduce || loop_of_result(draft.facts.regions, node);
    if (!repeats || !asked_in_a_range(draft.maps, asks)) return nullptr;
    if (!draft.facts.nested) return kReasonTrips;
    if (node.op == Op::Reduce && reduction_trips(node, draft.facts.symbols) >= costs::kStageTrips)
        return kReasonStage;
    return nullptr;
}

/// Returns the seconds to compute the value at its uses, given all that the asking kernels have
/// already.
double inline_seconds_beside(Draft& draft, const Node& node, const std::set<Ask>& asks) {
    const ScheduleFacts& facts = draft.facts;
    double total = 0;
    for (const Ask& a : asks) {
        const double grid = expected_elements(asking_grid(facts.regions, a), facts.symbols);
        const double trips = draft.maps.trips(a.map);
        total +=
            evaluated_at(draft, a) * trips * expected_runs(facts.regions, facts.symbols, *a.root) *
            idle_factor(grid * sharing_lanes(facts, *a.root, trips), facts.profile) *
            std::min(facts.seconds.at(&node),
                     seconds_beside(node, a, draft.findings.already_loaded, facts, draft.maps));
    }
    return total;
}

/// Returns the costs of a value; the verdict is Inlined until it is judged.
ValueVerdict costs_of(Draft& draft, const Ref& ref, const std::set<Ask>& asks) {
    const Node& node = *ref;
    const ScheduleFacts& facts = draft.facts;
    const DeviceProfile& profile = facts.profile;
    ValueVerdict v{ref, Verdict::Inlined, kReasonOnce};
    const double bytes = node.dtype.bytes();
    const double each = facts.seconds.at(&node),
                 size = expected_elements(node.shape, facts.symbols),
                 runs = expected_runs(facts.regions, facts.symbols, node);
    const double own_trips = node.op == Op::Reduce ? reduction_trips(node, facts.symbols) : 1;
    v.elements = std::max(1.0, size) * runs;
    double loads = 0;
    for (const Ask& a : asks) {
        const double root_runs = expected_runs(facts.regions, facts.symbols, *a.root),
                     trips = draft.maps.trips(a.map);
        const double grid = expected_elements(asking_grid(facts.regions, a), facts.symbols);
        const double asked = evaluated_at(draft, a) * trips * root_runs;
        v.evaluations += asked;
        const double idle =
            idle_factor(grid * sharing_lanes(facts, *a.root, std::max(own_trips, trips)), profile);
        v.inline_seconds += asked * each * idle;
        loads += asked * profile.seconds_per_load * idle;
    }
    const bool joins = leaves_with_its_loop(draft, node, asks);
    v.materialise_seconds = v.elements * 2 * bytes / profile.bytes_per_second + loads +
                            streamed_seconds(draft, node, asks);
    if (!joins)
        v.materialise_seconds +=
            v.elements * each * idle_factor(size * sharing_lanes(facts, node, own_trips), profile) +
            runs * seconds_per_step(facts, node);
    v.stage_seconds = stage_seconds(draft, node, asks);
    return v;
}

/// Returns the seconds to compute a value at its uses, including what that reads from memory again.
/// This is computed only if it matters: if the value would be kept but for being read again itself.
double with_streams(Draft& draft, const ValueVerdict& v, const std::set<Ask>& asks,
                    double seconds) {
    const double kept = v.materialise_seconds;
    const bool decides =
        seconds <= kept && seconds > kept - streamed_seconds(draft, *v.value, asks);
    return decides ? seconds + streamed_seconds_of_inputs(draft, *v.value, asks) : seconds;
}

ValueVerdict judge(Draft& draft, const Ref& ref, const std::set<Ask>& asks) {
    const Node& node = *ref;
    ValueVerdict v = costs_of(draft, ref, asks);
    const auto verdict = [&](Verdict kind, const char* reason) {
        v.verdict = kind;
        v.reason = reason;
        return v;
    };
    if (!is_ever_kept(draft.facts, node)) return v;
    if (combines_in_groups(draft, node, asks)) {
        v.stage_seconds = combine_seconds(draft.facts, node.inputs[0]->shape);
        return verdict(Verdict::Staged, kReasonGroup);
    }
    if (const char* reason = banned_from_askers(draft, node, asks))
        return verdict(Verdict::Materialised, reason);
    if (draft.findings.early_cuts.contains(&node))
        return verdict(Verdict::Materialised, kReasonBudget);
    if (v.stage_seconds > 0 && v.stage_seconds < std::min(v.inline_seconds, v.materialise_seconds))
        return verdict(Verdict::Staged, kReasonRow);
    v.inline_seconds = with_streams(draft, v, asks, v.inline_seconds);
    if (v.inline_seconds > v.materialise_seconds) {
        if (!draft.findings.already_loaded.asks.empty())
            v.inline_seconds =
                std::min(v.inline_seconds,
                         with_streams(draft, v, asks, inline_seconds_beside(draft, node, asks)));
        return v.inline_seconds > v.materialise_seconds
                   ? verdict(Verdict::Materialised, kReasonDearer)
                   : verdict(Verdict::Inlined, kReasonAlreadyLoaded);
    }
    if (is_shared_product(node, draft.facts.symbols) &&
        is_better_apart(draft, node, asks, v.materialise_seconds - v.inline_seconds))
        return verdict(Verdict::Materialised, kReasonProduct);
    const bool again = asks.size() > 1 || v.evaluations > v.elements;
    return verdict(Verdict::Inlined, again ? kReasonCheaper : kReasonOnce);
}

/// Applies a verdict to the values that the value asks for.
void apply(Draft& draft, const ValueVerdict& v, const std::set<Ask>& asks) {
    const Node& node = *v.value;
    if (v.verdict == Verdict::Materialised) {
        draft.round.materialised.insert(&node);
        ask_inputs(draft, node,
                   {{&node, draft.maps.identity(grid_shape(draft.facts.regions, node))}});
        return;
    }
    BindingPressure& pressure = draft.findings.pressure;
    for (const Ask& a : asks)
        if (pressure.contains(*a.root)) pressure.inlined(*a.root, node);
    if (v.verdict == Verdict::Inlined && is_shared_product(node, draft.facts.symbols))
        note_product(draft, node, asks);
    if (v.reason == kReasonGroup) return combine_in_groups(draft, node, asks);
    if (v.verdict == Verdict::Staged) stage(draft, asks);
    ask_inputs(draft, node, asks);
}

}  // namespace

bool is_ever_kept(const ScheduleFacts& facts, const Node& node) {
    return node.op != Op::Constant && node.op != Op::SizeValue && node.op != Op::Index &&
           node.op != Op::Empty && node.op != Op::Input && !is_movement(node.op) &&
           !known_to_host(facts.numbers, node) && !widens_a_load(node, facts.profile) &&
           !inside_kernel_loop(facts.regions, node);
}

void decide(Draft& draft) {
    const ScheduleFacts& facts = draft.facts;
    const std::set<Ask> none;
    for (size_t k = facts.regions.order.size(); k-- > 0;) {
        const Ref& ref = facts.regions.order[k];
        if (ref->op == Op::Loop || ref->op == Op::If || has_memory(facts.regions, *ref)) continue;
        const auto required = facts.required.find(ref.get());
        const auto asked = draft.round.asks.find(ref.get());
        const bool is_required = required != facts.required.end();
        if (!is_required && (asked == draft.round.asks.end() || ref->op == Op::RegionArg)) continue;
        const std::set<Ask>& asks = asked != draft.round.asks.end() ? asked->second : none;
        ValueVerdict v = is_required ? ValueVerdict{ref, Verdict::Materialised, required->second}
                                     : judge(draft, ref, asks);
        if (v.verdict != Verdict::Materialised && overcrowds(draft, *ref, asks)) {
            v.verdict = Verdict::Materialised;
            v.reason = kReasonBindings;
            draft.findings.pressure.add(*ref);  // it takes over the excess bindings
        }
        apply(draft, v, asks);
        if (!ref->shape.empty() || v.verdict == Verdict::Materialised)
            draft.round.verdicts.push_back(std::move(v));
    }
}

bool note_leaving_loops(Draft& draft) {
    bool changed = false;
    for (const ValueVerdict& v : draft.round.verdicts)
        if (v.verdict == Verdict::Materialised)
            if (const Node* loop = loop_of_result(draft.facts.regions, *v.value))
                changed |= draft.findings.leaving_loops.emplace(loop, v.value->shape).second;
    return changed;
}

bool judged_dearer(const Round& round) {
    return std::any_of(round.verdicts.begin(), round.verdicts.end(),
                       [](const ValueVerdict& v) { return v.reason == kReasonDearer; });
}

}  // namespace firn
