// The step `strides`: tiles along x of one invocation, the width of a group apart.
#include "compiler/kernel/strides.h"

#include <utility>

#include "compiler/mapping/choice/choice.h"
#include "compiler/mapping/choice/vary_mapping.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/map_grid.h"

namespace firn {
namespace {

std::string why_not(const MappingCase& of) { return why_not_of_grid(of, {of.mapping.strides}); }

void choose(Choice& c) {
    const KernelTraits& traits = c.traits;
    if (!c.rules().subgroups_run_serially || !traits.plain()) return;
    const bool streams = c.dims() == 1 && !traits.loops && c.may_hold(4);
    if (streams && c.has_room(4) && traits.total >= costs::kLongStream) c.m.strides = 4;
    // Longer pieces of rows, one after the other: memory is read in order.
    c.columns =
        traits.loops && c.m.tile[0] == kBlockWidth && c.has_room(4) && walks_columns(c.ready);
    if (c.columns) c.m.strides = 4;
    // Lanes that load neighbours as one: the tile of each is spread over the group. The group of a
    // walk along columns is one subgroup, so that its strides are one piece of a row.
    const int64_t tile = c.m.tile[0];
    if (c.rules().lanes_load_together && (c.m.strides == 1 || c.columns) && tile > 1 &&
        traits.x >= tile * c.m.strides * c.profile.subgroup_size)
        c.m.strides *= std::exchange(c.m.tile[0], 1);
}

void vary(Variations& v) {
    if (v.loops) return;
    for (int64_t strides : {1, 2, 4, 8, 16}) v.with([&](Mapping& m) { m.strides = strides; });
}

}  // namespace

const StepRules mapping_step::strides{.why_not = why_not, .choose = choose, .vary = vary};

}  // namespace firn
