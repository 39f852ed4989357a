// The step `tile`: neighbours along each range in one invocation.
#include <algorithm>
#include <set>

#include "compiler/mapping/choice.h"
#include "compiler/mapping/grow_tile.h"
#include "compiler/mapping/map_grid.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/vary_mapping.h"

namespace firn {
namespace {

std::string why_not(const MappingCase& of) {
    const std::string why = why_not_of_grid(of, of.mapping.tile);
    if (!why.empty()) return why;
    const std::vector<Size> extents = grid_extents(of.ready);
    for (size_t d = 0; d < extents.size(); ++d) {
        const int64_t tile = of.mapping.tile_of(d);
        const bool passes = tile == 4 && extents.size() == 1 && may_pass_the_end(of.ready);
        if (extents[d].divisor() % tile != 0 && !passes)
            return std::to_string(tile) + " neighbours do not divide " + extents[d].text();
    }
    return "";
}

int64_t loaded_tensors(const KernelCode& ready) {
    std::set<int> out;
    for (const KernelNode& n : ready.nodes)
        if (n.op == KernelOp::Load) out.insert(n.buffer);
    return static_cast<int64_t>(out.size());
}

void choose(Choice& c) {
    const KernelTraits& traits = c.traits;
    const std::vector<Size>& grid = traits.grid;
    Mapping& m = c.m;
    m.tile.assign(std::max<size_t>(c.dims(), 1), 1);
    const bool by_four = c.dims() > 0 && grid[0].divisor() % 4 == 0 && traits.x > 0;
    const bool padded = c.dims() == 1 && may_pass_the_end(c.ready);
    // Where bodies keep a core busy alone, or stores weigh more than all else, four are computed
    // one after the other, to be loaded and stored together.
    const bool stored = static_cast<double>(traits.stores) * c.rules().store_operations >=
                        static_cast<double>(traits.nodes);
    const bool in_turn = c.rules().in_turn && by_four && !traits.loops &&
                         (traits.nodes >= costs::kLongBody || stored) &&
                         traits.nodes * 4 <= traits.most_nodes && traits.total / 4 >= c.busy();
    if (traits.plain() && (((by_four || padded) && c.has_room(4)) || in_turn)) m.tile[0] = 4;
    c.nodes = traits.nodes * m.copies();
    if (!traits.plain() || c.dims() < 2) return;
    if (traits.loops) {
        const TileModel model(c.ready, false);
        m.tile = grow_tile(model, m.tile, grid, traits.total, c.busy(), false, traits.most_nodes,
                           short_iterations(c.ready));
        c.nodes = model.loop_nodes(m.tile);
        c.carried = model.carried(m.tile);
        for (size_t d = 1; d < c.dims(); ++d)
            c.dealt_copies |= m.tile[d] % c.profile.subgroup_size == 0 && model.same_along_x(d);
    } else if (traits.shifted) {
        const int64_t vectors = loaded_tensors(c.ready) * m.tile[0];
        for (int64_t u : {4, 2})
            if (m.tile[1] == 1 && grid[1].divisor() % u == 0 && traits.y > 0 && c.has_room(u) &&
                (!c.rules().in_turn || vectors * u <= costs::kLoadedOnCpu))
                m.tile[1] = u;
        c.nodes = traits.nodes * m.copies();
    }
}

void vary(Variations& v) {
    for (size_t d = 0; d < v.extents.size(); ++d)
        for (int64_t tile : {1, 2, 3, 4, 5, 8})
            if (tile == 1 || (!v.extents[d].is(0) && v.extents[d].divisor() % tile == 0))
                v.with([&](Mapping& m) { m.tile[d] = tile; });
}

}  // namespace

const StepRules mapping_step::tile{.why_not = why_not, .choose = choose, .vary = vary};

}  // namespace firn
