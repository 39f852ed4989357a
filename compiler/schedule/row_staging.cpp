// Rows that one invocation walks: it keeps values that do not change along the row in registers.
#include "compiler/schedule/row_staging.h"

#include "compiler/kernel/rows.h"
#include "compiler/schedule/costs.h"
#include "compiler/schedule/trip_counts.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// True if the row's length is known to be at most what one invocation may walk.
bool row_fits(const Shape& shape, int inner, const SymbolFacts& symbols) {
    const Size row = element_count(Shape(shape.end() - inner, shape.end()));
    return row.upper_bound(symbols.largest) <=
           static_cast<int64_t>(costs::kLongestRow) * costs::kLongestRowShare;
}

double prefix_elements(const Shape& shape, int inner, const SymbolFacts& symbols) {
    return expected_elements(Shape(shape.begin(), shape.end() - inner), symbols);
}

/// Returns the number of trailing dimensions of the asking root on which the value does not depend;
/// it is the same for all values that this root stages.
int inner_dimensions(const Draft& draft, const Ask& ask) {
    const Node& root = *ask.root;
    if (written(draft.facts, root)) return 0;
    const int inner = root.rank() - draft.maps.prefix(ask.map, root.rank());
    const auto staged = draft.round.inner.find(&root);
    if (staged == draft.round.inner.end()) return inner;
    return inner >= staged->second ? staged->second : 0;
}

}  // namespace

bool reduces_long(Draft& draft, const Node& value) {
    if (draft.round.reduce_little.contains(&value)) return false;
    const bool found = computes_any(draft, value, [&](const Node& node) {
        return node.op == Op::Reduce &&
               reduction_trips(node, draft.facts.symbols) >= costs::kStageTrips;
    });
    if (!found) draft.round.reduce_little.insert(&value);
    return found;
}

double evaluated_at(const Draft& draft, const Ask& ask) {
    const Shape& shape = asking_grid(draft.facts.regions, ask);
    const auto staged = draft.round.inner.find(ask.root);
    const int rank = static_cast<int>(shape.size());
    const bool of_held_row =
        draft.findings.holds_rows.contains(ask.root) && draft.maps.trips(ask.map) == 1;
    const int inner = staged != draft.round.inner.end() ? staged->second : of_held_row ? 1 : 0;
    if (inner == 0 || draft.maps.prefix(ask.map, rank) > rank - inner)
        return expected_elements(shape, draft.facts.symbols);
    return prefix_elements(shape, inner, draft.facts.symbols);
}

double stage_seconds(Draft& draft, const Node& node, const std::set<Ask>& asks) {
    const ScheduleFacts& facts = draft.facts;
    const double each = facts.seconds.at(&node);
    double total = 0;
    NodeSet roots;
    for (const Ask& a : asks) {
        const Node& root = *a.root;
        if (is_stored_by_hand(root)) return 0;  // its grid is chosen by hand
        const int inner = inner_dimensions(draft, a);
        // Only neighbouring elements share values that they compute in the iterations of a loop.
        const double trips = draft.maps.trips(a.map);
        if (inner <= 0 || draft.findings.holds_rows.contains(&root) ||
            (trips > 1 && !is_short_row(root.shape, inner)) ||
            (trips * each < costs::kLeastStaged * facts.seconds.at(&root) &&
             reduces_long(draft, root)))
            return 0;
        if (!roots.insert(&root).second) continue;
        const double rows = prefix_elements(root.shape, inner, facts.symbols);
        const double all = expected_elements(root.shape, facts.symbols);
        if (rows <= 0 || all / rows > costs::kLongestRow ||
            !row_fits(root.shape, inner, facts.symbols))
            return 0;
        // Lanes that share long rows keep the device as busy as that many more rows would.
        const double idle =
            idle_factor(rows * sharing_lanes(facts, root, all / rows), facts.profile);
        total += expected_runs(facts.regions, facts.symbols, root) *
                 (rows * trips * each * idle +
                  all * facts.seconds.at(&root) * (idle - idle_factor(all, facts.profile)));
    }
    return total;
}

void stage(Draft& draft, const std::set<Ask>& asks) {
    for (const Ask& a : asks) draft.round.inner.emplace(a.root, inner_dimensions(draft, a));
}

}  // namespace firn
