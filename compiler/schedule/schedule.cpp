// Stage 3: makes verdicts by cost, in rounds from consumers to producers, and then groups.
#include "compiler/schedule/schedule.h"

#include <algorithm>

#include "compiler/schedule/crowded_kernels.h"
#include "compiler/schedule/early_cuts.h"
#include "compiler/schedule/groups.h"
#include "compiler/schedule/held_rows.h"
#include "compiler/schedule/verdicts.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

using Reasons = std::vector<std::string>;

void next_round(Draft& draft, Reasons& rounds, const char* reason) {
    rounds.push_back(reason);
    start_round(draft);
    decide(draft);
}

/// Notes the findings of the last round. True if some of them change verdicts.
bool note_all(Draft& draft) {
    const bool loops = note_leaving_loops(draft);
    return note_held_rows(draft) || loops;
}

void seek_verdicts(Draft& draft, Reasons& rounds) {
    decide(draft);
    // If one result of a loop leaves its kernel, the loop's other results are cheaper to keep, so
    // they are judged again. So are values that were computed from rows in memory that a group can
    // hold.
    while (note_all(draft))
        next_round(draft, rounds, "results of loops leave their kernels, or groups hold rows");
    if (judged_dearer(draft.round)) {
        draft.findings.already_loaded = {std::move(draft.round.asks),
                                         std::move(draft.round.materialised)};
        next_round(draft, rounds, "kernels load what some values are computed from");
    }
    for (int k = 0; k < costs::kEarlyCutRounds && note_early_cuts(draft); ++k)
        next_round(draft, rounds, "values multiply the uses of others");
    while (note_crowded_kernels(draft))
        next_round(draft, rounds, "a kernel binds more tensors than the device allows");
}

}  // namespace

Schedule make_schedule(const Graph& graph, const DeviceProfile& profile, const SymbolFacts& facts,
                       bool nested, const NodeSet& launched, const NodeSet& kept) {
    const ScheduleFacts known = schedule_facts(graph, profile, facts, nested, launched, kept);
    Draft draft = make_draft(known);
    Schedule out;
    seek_verdicts(draft, out.rounds);
    out.items = group_into_kernels(draft);
    out.verdicts = std::move(draft.round.verdicts);
    std::reverse(out.verdicts.begin(), out.verdicts.end());
    out.materialised = std::move(draft.round.materialised);
    out.host_loops = known.regions.host_loops;
    out.small_loops = known.small_loops;
    out.kept = kept;
    out.numbers = known.numbers;
    return out;
}

namespace {

bool leave_rows(std::vector<ScheduleItem>& items, const NodeSet& roots) {
    bool left = false;
    for (ScheduleItem& item : items) {
        left |= leave_rows(item.body, roots);
        if (item.outputs.empty() || !roots.contains(item.outputs[0].get())) continue;
        item.inner = 0;
        item.row_reductions.clear();
        left = true;
    }
    return left;
}

}  // namespace

bool leave_rows(Schedule& schedule, const NodeSet& roots) {
    return leave_rows(schedule.items, roots);
}

}  // namespace firn
