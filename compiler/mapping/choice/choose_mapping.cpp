// Chooses the mapping of a kernel for a class of device: a step that pays when the whole mapping is
// sized around it, else each step in order.
#include <algorithm>

#include "compiler/mapping/choice/choice.h"
#include "compiler/mapping/map.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/stage_loads.h"

namespace firn {
namespace {

/// Returns whether groups would load together if each invocation had one index, or neighbours along
/// some range.
bool stages_loads(const KernelCode& ready, const DeviceProfile& profile, size_t dims) {
    Mapping m;
    m.group.x =
        std::min(dims < 2 ? costs::kLargeGroup : costs::kSquareGroup, profile.max_group_size);
    m.group.y = dims < 2 ? 1 : std::min(costs::kSquareGroup, profile.max_group_size / m.group.x);
    if (choose_staged_iterations(ready, m, profile) > 1) return true;
    for (size_t d = 0; d < dims; ++d) {
        m.tile.assign(dims, 1);
        m.tile[d] = costs::kStagedTile;
        if (choose_staged_iterations(ready, m, profile) > 1) return true;
    }
    return false;
}

/// `may_stage`: groups may load together.
Mapping mapping_of_class(const KernelCode& ready, const DeviceProfile& profile,
                         const SymbolFacts& facts, bool may_stage) {
    const KernelTraits traits = kernel_traits(ready, profile, facts);
    const bool staged =
        may_stage && traits.loops && stages_loads(ready, profile, traits.grid.size());
    Choice choice{ready, profile, facts, traits, staged};
    for (const MappingStep& step : mapping_steps())
        if (step.rules.choose_whole_mapping)
            if (const std::optional<Mapping> alone = step.rules.choose_whole_mapping(choice))
                return *alone;
    for (const MappingStep& step : mapping_steps())
        if (step.rules.choose) step.rules.choose(choice);
    return choice.m;
}

}  // namespace

Mapping choose_mapping(const KernelCode& ready, const DeviceProfile& profile,
                       const SymbolFacts& facts) {
    const bool may_stage = rules_of(profile).stages_loads;
    const Mapping m = mapping_of_class(ready, profile, facts, may_stage);
    // If nothing is staged, the tile that was sized for staging is sized again.
    return may_stage && m.staged_iterations == 1 ? mapping_of_class(ready, profile, facts, false)
                                                 : m;
}

}  // namespace firn
