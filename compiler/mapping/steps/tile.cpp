// The step `tile`: neighbours along each range in one invocation.
#include <algorithm>
#include <set>

#include "compiler/mapping/choice/choice.h"
#include "compiler/mapping/choice/grow_tile.h"
#include "compiler/mapping/choice/vary_mapping.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/map_grid.h"
#include "compiler/mapping/walk/row_groups.h"

namespace firn {
namespace {

/// Returns whether copies behind the end of this range may load the nearest element inside. An
/// extent of 0 has nothing inside.
bool may_pad(const KernelCode& ready, const Size& extent) {
    return extent.is_constant() && !extent.is(0) && !reduces_rows(ready) && stores_apart(ready);
}

std::string why_not(const MappingCase& of) {
    const std::string why = why_not_of_grid(of, of.mapping.tile);
    if (!why.empty()) return why;
    if (!pads_tiles(of.ready, of.mapping)) return "";
    const std::vector<Size> extents = grid_extents(of.ready);
    for (size_t d = 0; d < extents.size(); ++d) {
        const int64_t tile = of.mapping.tile_of(d);
        if (extents[d].divisor() % tile != 0 && !may_pad(of.ready, extents[d]))
            return std::to_string(tile) + " neighbours do not divide " + extents[d].text();
    }
    const Mapping& m = of.mapping;
    const bool together =
        m.lanes > 1 || m.staged_iterations > 1 || m.accumulators != MemorySpace::Bound ||
        std::any_of(m.walk.begin(), m.walk.end(), [](int64_t w) { return w > 1; });
    return together ? "neighbours that do not divide their range exclude the steps accumulate, "
                      "lanes, walk and stage"
                    : "";
}

int64_t loaded_tensors(const KernelCode& ready) {
    std::set<int> out;
    for (const KernelNode& n : ready.nodes)
        if (n.op == KernelOp::Load) out.insert(n.as<AccessAttr>().buffer);
    return static_cast<int64_t>(out.size());
}

/// A tile along a range divides it, or leaves less behind its end than a tile has to save.
bool fits(const Choice& c, size_t range, int64_t tile) {
    const Size& extent = c.traits.grid[range];
    return extent.divisor() % tile == 0 ||
           (may_pad(c.ready, extent) && padding(extent, tile) * costs::kLeastSaving <= 1);
}

/// Sizes the tile by what copies and iterations share. Writes out loops longer than usual if
/// neighbours share what their iterations read.
void size_tile(Choice& c) {
    const KernelTraits& traits = c.traits;
    const double most = c.profile.max_body_operations;
    const bool pads = !c.staged && may_pad(c.ready, traits.grid[0]);
    // A core has its registers to itself behind the loops; other devices share them out for all of
    // a kernel.
    const bool loops_alone = c.rules().subgroups_run_serially;
    const int64_t width = c.least_width();
    const std::vector<int64_t> start = c.m.tile;
    for (const int64_t longest : {costs::kShortLoop, costs::kLongestWindow}) {
        TileModel model(c.ready, false, longest);
        const int64_t iterations = short_iterations(c.ready, longest);
        const auto time_of = [&](const std::vector<int64_t>& of) {
            return padded_time(model, of, traits.grid, width);
        };
        const auto grown_from = [&](const std::vector<int64_t>& from) {
            return grow_tile(model, from, traits.grid, traits.total, c.busy(), kTwos, most,
                             c.rules().most_carried, width, iterations, pads, costs::kTileBudget,
                             loops_alone);
        };
        std::vector<int64_t> tile = grown_from(start), from = start;
        // A shorter one may be the better start if it leaves fewer invocations without a tile.
        while (from[0] > 1) {
            from[0] /= 2;
            if (padding(traits.grid[0], from[0] * width) ==
                padding(traits.grid[0], from[0] * 2 * width))
                continue;
            const std::vector<int64_t> grown = grown_from(from);
            if (time_of(grown) < costs::kLeastSaving * time_of(tile)) tile = grown;
        }
        // Rows of vectors are no blocks of four: three of them may leave fewer registers unused.
        for (size_t d = 0; d < tile.size() && c.rules().lanes_load_together; ++d) {
            std::vector<int64_t> threes(tile.size(), 1);
            threes[d] = 3;
            if (!fits(c, d, 3)) continue;
            const std::vector<int64_t> grown = grown_from(threes);
            if (time_of(grown) < costs::kLeastSaving * time_of(tile)) tile = grown;
        }
        const bool better =
            !c.model || (fits_written_out(model, tile, iterations, most) &&
                         time_of(tile) < costs::kLeastSaving *
                                             padded_time(*c.model, c.m.tile, traits.grid, width));
        if (better) c.m.tile = tile, c.model = std::move(model), c.longest_written_out = longest;
        if (!c.model->has_windows()) break;
    }
}

/// Further, where neighbours share more than loads: a body may become as long as that of four that
/// share nothing.
void grow_by_shares(Choice& c) {
    if (!c.rules().subgroups_run_serially) return;
    const KernelTraits& traits = c.traits;
    int64_t copies = costs::kMostSharing;
    if (traits.scattered > 0) copies = std::min(copies, costs::kHeldByCopies / traits.scattered);
    if (copies <= c.m.copies()) return;
    const int64_t nodes =
        std::max(costs::kTileBudget, std::min(traits.nodes * 4, traits.most_nodes));
    const int64_t busy = std::max(c.busy(), traits.total / copies);
    c.m.tile = grow_tile(TileModel(c.ready, false), c.m.tile, traits.grid, traits.total, busy,
                         kTwos, c.profile.max_body_operations, c.rules().most_carried,
                         c.least_width(), 1, may_pad(c.ready, traits.grid[0]), nodes);
}

/// Takes fewer neighbours if that makes room for a shuffled iteration for every lane: elements that
/// all lanes read one after the other are then loaded by one lane each and shuffled.
void leave_room_to_hand_round(Choice& c) {
    const int64_t lanes = c.profile.subgroup_size;
    if (!c.may_hand_round()) return;
    const TileModel model = c.model ? *c.model : TileModel(c.ready, false);
    const auto fits = [&](const std::vector<int64_t>& tile) {
        return model.loop_nodes(tile) * lanes <= c.traits.body_budget(costs::kDealtBudget);
    };
    std::vector<int64_t> tile = c.m.tile;
    while (!fits(tile)) {
        const auto largest = std::max_element(tile.begin(), tile.end());
        if (*largest == 1) return;
        *largest /= 2;
    }
    if (tile == c.m.tile) return;
    c.m.tile = tile;
    c.nodes = model.loop_nodes(tile);
    c.carried = model.carried(tile);
}

void choose(Choice& c) {
    const KernelTraits& traits = c.traits;
    const std::vector<Size>& grid = traits.grid;
    Mapping& m = c.m;
    m.tile.assign(std::max<size_t>(c.dims(), 1), 1);
    const bool by_blocks = c.dims() > 0 && grid[0].divisor() % kBlockWidth == 0 && traits.x > 0;
    // Loops weigh more than how their results are stored.
    const bool passes =
        !traits.loops && traits.x > 0 && stores_pass_the_end(c.ready) && fits(c, 0, kBlockWidth);
    const bool padded = c.dims() == 1 && (passes || may_pass_the_end(c.ready));
    // If one body keeps a core busy, or stores weigh more than all else, the elements of a block
    // are computed one after the other, and loaded and stored together.
    const bool stored = static_cast<double>(traits.stores) * c.rules().store_operations >=
                        static_cast<double>(traits.nodes);
    const bool serial = c.rules().subgroups_run_serially && by_blocks && !traits.loops &&
                        (traits.nodes >= costs::kLongBody || stored) &&
                        traits.nodes * kBlockWidth <= traits.most_nodes &&
                        traits.total / kBlockWidth >= c.busy();
    if (traits.plain() && c.may_hold(kBlockWidth) && c.fills_lanes(kBlockWidth) &&
        (((by_blocks || padded) && c.has_room(kBlockWidth)) || serial))
        m.tile[0] = kBlockWidth;
    // A core waits for one operation after the other in a short body: elements side by side fill
    // the gaps, though they run until the last one ends. Reads at places that values decide leave
    // no gaps: each lane's read is an operation of its own, also for elements that have ended.
    if (c.rules().subgroups_run_serially && traits.ends_early && !traits.gathers_to_its_end &&
        !traits.divergent && !traits.rows && by_blocks && c.may_hold(kBlockWidth) &&
        c.has_room(kBlockWidth))
        m.tile[0] = kBlockWidth;
    // Neighbours that walk together store together, and read elements that would be on another line
    // or page for each of their steps.
    if (c.rules().subgroups_run_serially && traits.rows && !traits.unlike_rows &&
        !traits.divergent && !traits.ends_early && traits.scattered == 0 && by_blocks &&
        c.has_room(kBlockWidth))
        m.tile[0] = kBlockWidth;
    c.nodes = traits.nodes * m.copies();
    if (!traits.plain() || c.dims() < 2) return;
    if (traits.loops) {
        size_tile(c);
        c.nodes = c.model->loop_nodes(m.tile);
        c.carried = c.model->carried(m.tile);
        for (size_t d = 1; d < c.dims(); ++d)
            c.dealt_copies |= m.tile[d] % c.profile.subgroup_size == 0 && c.model->same_along_x(d);
        leave_room_to_hand_round(c);
    } else if (traits.shifted) {
        // Neighbours share their loads.
        if (m.tile[0] == 1 && fits(c, 0, kBlockWidth) && c.fills_lanes(kBlockWidth) &&
            c.has_room(kBlockWidth))
            m.tile[0] = kBlockWidth;
        const int64_t vectors = loaded_tensors(c.ready) * m.tile[0];
        for (int64_t u : {4, 2})
            if (m.tile[1] == 1 && fits(c, 1, u) && traits.y > 0 && c.has_room(u) &&
                (!c.rules().subgroups_run_serially || vectors * u <= costs::kLoadedOnCpu))
                m.tile[1] = u;
        grow_by_shares(c);
        c.nodes = traits.nodes * m.copies();
    }
}

void vary(Variations& v) {
    for (size_t d = 0; d < v.extents.size(); ++d)
        for (int64_t tile : {1, 2, 3, 4, 5, 8})
            if (!v.extents[d].is(0)) v.with([&](Mapping& m) { m.tile[d] = tile; });
}

}  // namespace

const StepRules mapping_step::tile{.why_not = why_not, .choose = choose, .vary = vary};

}  // namespace firn
