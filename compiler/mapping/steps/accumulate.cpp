// The step `accumulate`: combining stores meet in copies of their target first; how many of them a
// copy gathers.
#include <algorithm>

#include "compiler/kernel/place.h"
#include "compiler/mapping/choice/choice.h"
#include "compiler/mapping/choice/vary_mapping.h"
#include "compiler/mapping/map.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/accumulators.h"
#include "compiler/target/target.h"

namespace firn {
namespace {

/// Returns the iterations along each range, `wanted` in all or as many as there are blocks of the
/// group.
std::vector<int64_t> walked_blocks(const std::vector<Size>& grid, const SymbolFacts& facts,
                                   int64_t width, int64_t wanted) {
    std::vector<int64_t> out;
    for (size_t d = 0; d < grid.size(); ++d) {
        const int64_t most = grid[d].upper_bound(facts.largest);
        const bool known = grid[d].is_constant();
        const int64_t extent =
            known || grid.size() == 1 ? most : std::min(most, costs::kUnknownExtent);
        const int64_t blocks = d == 0 ? (extent + width - 1) / width : extent;
        out.push_back(std::clamp<int64_t>(blocks, 1, std::max<int64_t>(1, wanted)));
        wanted /= out.back();
    }
    return out;
}

/// Returns the most iterations that an invocation may walk, whose stores may stand in loops; 0:
/// unknown.
int64_t most_iterations(KernelCode lowered, const DeviceProfile& profile, int64_t elements) {
    if (!profile.max_back_edges) return costs::kMostWalked;
    place(lowered);
    const int64_t inside = target_of(profile).count_back_edges(lowered, profile);
    if (inside < 0) return 0;
    // Copies are cleared and flushed in iterations too. Loops around one another count the outer
    // ones' iterations and the inner ones' ends.
    const int64_t left = int64_t{profile.max_back_edges} - 2 * (elements + 2);
    return std::clamp<int64_t>(left / (inside + 4), 0, costs::kMostWalked);
}

std::optional<Mapping> choose_whole_mapping(const Choice& c) {
    const KernelTraits& traits = c.traits;
    const DeviceProfile& profile = c.profile;
    const std::vector<AccumulatedTarget> targets = accumulated_targets(c.ready);
    const std::vector<Size>& grid = traits.grid;
    if (targets.empty() || grid.empty() || !lanes_share(profile)) return std::nullopt;
    int64_t elements = 0;
    for (const AccumulatedTarget& t : targets) elements += t.elements;
    Size all(1);
    for (const Size& extent : grid) all = all * extent;
    const int64_t total = all.upper_bound(c.facts.largest);

    const bool serial = c.rules().subgroups_run_serially;
    Mapping m;
    m.tile.assign(grid.size(), 1);
    const bool private_copies = serial && !c.rules().groups_run_alone;
    if (serial && elements > std::min<int64_t>(costs::kMostPrivate, profile.shared_bytes / 4))
        return std::nullopt;  // one copy stays in the first caches
    if (private_copies) {
        // Lanes go through memory one by one anyway: a copy for each needs no atomics, and stays in
        // the first caches.
        m.accumulators = MemorySpace::Private;
        m.group.x = profile.subgroup_size;
    } else {
        if (elements * 4 > profile.shared_bytes / 2) return std::nullopt;
        m.accumulators = MemorySpace::Shared;
        m.group.x =
            serial ? profile.subgroup_size : std::min(costs::kLargeGroup, profile.max_group_size);
    }
    if (!traits.loops &&
        traits.nodes * costs::kAccumulatedStrides <= traits.body_budget(costs::kBodyBudget))
        m.strides = serial ? costs::kAccumulatedStrides : costs::kAccumulatedStrides / 2;
    // A copy costs about as much as storing to each of its elements once.
    const int64_t width = m.group.x, stores = total / width;
    const int64_t least = private_copies ? elements : 4 * elements / width + 1;
    const int64_t busy = std::max<int64_t>(1, profile.parallel_invocations / width);
    const int64_t copies = std::min(busy * costs::kLeastGroups, stores / least);
    if (copies < busy) return std::nullopt;
    // Copies that gather less than they cost are not worth it.
    const int64_t most = most_iterations(c.ready, profile, elements);
    if (most * m.strides < least) return std::nullopt;
    const int64_t wanted = all.is_constant() ? stores / copies : costs::kUnknownStores * least;
    m.walk = walked_blocks(grid, c.facts, width * m.strides,
                           std::clamp<int64_t>(wanted / m.strides, 1, most));
    return m;
}

/// Combining stores with and without copies of their targets, of more and fewer iterations.
void vary(Variations& v) {
    if (!lanes_share(v.profile) || accumulated_targets(v.ready).empty()) return;
    const bool has = v.from.accumulators != MemorySpace::Bound;
    v.with([](Mapping& m) { drop(m, {"accumulate", "walk"}); });
    for (MemorySpace space : {MemorySpace::Private, MemorySpace::Shared})
        for (int64_t iterations : {1, 4, 16, 64, 256, 1024, 4096})
            v.with([&](Mapping& m) {
                m.accumulators = space;
                if (!has)
                    m.group.x = space == MemorySpace::Private ? v.profile.subgroup_size
                                                              : m.group.x * m.group.y;
                m.group.y = 1;
                drop(m, {"lanes", "shuffle", "stage"});
                m.walk.resize(v.extents.size(), 1);
                m.walk[0] = iterations;
            });
}

}  // namespace

const StepRules mapping_step::accumulate{.excludes = "matrix lanes shuffle stage",
                                         .why_not = why_no_accumulators,
                                         .choose_whole_mapping = choose_whole_mapping,
                                         .vary = vary};

}  // namespace firn
