// Stage 5: gives the ranges of a kernel their kinds and expands it accordingly.
#include "compiler/mapping/map.h"

#include <utility>

#include "compiler/base/error.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/copy_effects.h"
#include "compiler/mapping/walk/mapping_run.h"
#include "compiler/mapping/walk/nest_guards.h"
#include "compiler/mapping/walk/row_groups.h"
#include "compiler/mapping/walk/serial_loops.h"
#include "compiler/mapping/walk/varying_nodes.h"

namespace firn {
namespace {

/// The new grid, and the copies of the body that an invocation has.
void open_grid(MappingRun& run) {
    const Mapping& m = run.mapping;
    run.grid = map_grid(run.from, run.b, m, run.profile);
    run.copies = std::move(run.grid.copies);
    run.lane = run.grid.lane;
    if (m.shuffled_loads > 1 && !run.lane) run.lane = subgroup_lane(run.b, run.profile);
    run.varies = varying_nodes(run.from, run.grid.ranges, run.copies);
    run.memo.assign(run.copies.size(), ByNode<NodeId>(run.from.nodes.size()));
}

/// Effects that all invocations of a group have before the first store, in order: rows are reduced,
/// operands staged, copies of targets made.
std::vector<NodeId> open_effects(MappingRun& run) {
    std::vector<NodeId> effects;
    if (run.grid.subgroup) effects = reduce_rows(run);
    for (const auto& [id, loop] : run.staged) loop_results(run, loop.outermost, 0);
    if (!run.staged.empty()) effects = std::exchange(run.effects, {});
    const bool has_copies = run.mapping.accumulators != MemorySpace::Bound;
    run.b.code().in_order = !effects.empty() || has_copies;
    return has_copies ? open_accumulators(run) : effects;
}

/// Builds the effects of all copies, behind their guards, in the loops over the blocks that a group
/// walks.
std::vector<NodeId> stores(MappingRun& run) {
    std::vector<std::vector<NodeId>> by_copy(run.copies.size());
    for (NodeId effect : run.from[kRoot].effects) build_effect(run, effect, by_copy);
    std::vector<NodeId> effects = nest_guards(run, by_copy);
    for (RangeId range : run.grid.walked) {
        const RegionId region = run.b.add_region();
        run.b.code()[region].range = range;
        run.b.code()[region].effects = std::move(effects);
        effects = {run.b.close_for(region, {})};
    }
    return effects;
}

}  // namespace

int64_t Mapping::copies() const {
    int64_t count = strides;
    for (int64_t t : tile) count *= t;
    return count;
}

KernelCode map_ranges(const KernelCode& ready, const Mapping& mapping, const DeviceProfile& profile,
                      const SymbolFacts& facts) {
    const MappingCase of{ready, mapping, profile, facts};
    const std::string why = why_illegal(of);
    if (!why.empty()) throw InternalError("map: " + why + " in " + text(mapping));
    for (const MappingStep& step : mapping_steps())
        if (step.rules.map && step.is_taken(mapping)) return step.rules.map(of);
    KernelCode code;
    code.name = ready.name;
    MappingRun run(ready, code, mapping, profile, facts);
    open_grid(run);
    std::vector<NodeId> effects = open_effects(run);
    const std::vector<NodeId> stored = stores(run);
    if (run.accumulators)
        effects = close_accumulators(run, std::move(effects), stored);
    else
        effects.insert(effects.end(), stored.begin(), stored.end());
    code[kRoot].effects = std::move(effects);
    return code;
}

}  // namespace firn
