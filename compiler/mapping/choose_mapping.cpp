// The mapping of a kernel on a device of some class: its template, sized by what the kernel does.
#include <algorithm>
#include <set>

#include "compiler/kernel/strides.h"
#include "compiler/mapping/accumulators.h"
#include "compiler/mapping/choose_parts.h"
#include "compiler/mapping/collapse_nests.h"
#include "compiler/mapping/map.h"
#include "compiler/mapping/map_grid.h"
#include "compiler/mapping/matrix_units.h"
#include "compiler/mapping/row_groups.h"
#include "compiler/mapping/share_loops.h"
#include "compiler/mapping/shuffle_loads.h"
#include "compiler/mapping/stage_loads.h"
#include "compiler/program/cost_table.h"
#include "compiler/program/device_class.h"

namespace firn {
namespace {

uint32_t round_up(int64_t value, int64_t step) {
    return static_cast<uint32_t>((value + step - 1) / step * step);
}

/// Groups would load together where each invocation has one index, or neighbours along some range.
bool stages_loads(const KernelCode& lowered, const DeviceProfile& profile, size_t dims) {
    Mapping m;
    m.group_x =
        std::min(dims < 2 ? costs::kLargeGroup : costs::kSquareGroup, profile.max_group_size);
    m.group_y = dims < 2 ? 1 : std::min(costs::kSquareGroup, profile.max_group_size / m.group_x);
    if (choose_staged_iterations(lowered, m, profile) > 1) return true;
    for (size_t d = 0; d < dims; ++d) {
        m.tile.assign(dims, 1);
        m.tile[d] = costs::kStagedTile;
        if (choose_staged_iterations(lowered, m, profile) > 1) return true;
    }
    return false;
}

int64_t loaded_tensors(const KernelCode& lowered) {
    std::set<int> out;
    for (const KernelNode& n : lowered.nodes)
        if (n.op == KernelOp::Load) out.insert(n.buffer);
    return static_cast<int64_t>(out.size());
}

/// A mapping on the way: what its steps so far make of the kernel.
struct Choice {
    const KernelCode& ready;
    const DeviceProfile& profile;
    const SymbolFacts& facts;
    const KernelTraits& traits;
    const bool staged;  // groups will load together
    Mapping m;
    int64_t nodes = 0, carried = 0;  // of the body with its copies
    bool columns = false;            // it walks columns of memory
    bool dealt_copies = false;  // of a tile: as many as a subgroup has lanes, with their own loads

    const ClassRules& rules() const { return rules_of(profile); }
    size_t dims() const { return traits.grid.size(); }
    /// Enough invocations must remain to keep the device busy, fewer where each has much to do that
    /// nothing waits for.
    int64_t busy() const {
        const int64_t at_once = profile.parallel_invocations;
        if (staged) return at_once / costs::kStagedShare;
        return at_once * (traits.loops ? rules().turns_of_loops : rules().turns);
    }
    /// `factor` times as many copies fit, and leave enough invocations.
    bool has_room(int64_t factor) const {
        return traits.nodes * m.copies() * factor <= traits.bearable(costs::kBodyBudget) &&
               traits.total / (m.copies() * factor) >= busy();
    }
};

void choose_tile(Choice& c) {
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

void choose_strides(Choice& c) {
    const KernelTraits& traits = c.traits;
    if (!c.rules().in_turn || !traits.plain()) return;
    const bool streams = c.dims() == 1 && !traits.loops;
    if (streams && c.has_room(4) && traits.total >= costs::kLongStream) c.m.strides = 4;
    // Longer pieces of rows, one after the other: memory is read in order.
    c.columns = traits.loops && c.m.tile[0] == 4 && c.has_room(4) && walks_columns(c.ready);
    if (c.columns) c.m.strides = 4;
}

/// Groups of one row: on a CPU driver there are enough for every core.
void choose_row_group(Choice& c, int64_t units) {
    const int64_t lanes = c.profile.subgroup_size;
    const uint32_t largest = std::min<uint32_t>(costs::kLargeGroup, c.profile.max_group_size);
    const int64_t share = units / c.rules().groups_per_core;
    c.m.group_x = std::min<uint32_t>(
        c.rules().in_turn && c.traits.loops ? std::min(c.rules().wide_group, largest) : largest,
        std::max<uint32_t>(round_up(share, lanes), lanes));
}

void choose_group(Choice& c) {
    Mapping& m = c.m;
    const int64_t units_x =
        std::max<int64_t>(1, (c.traits.x + m.tile[0] - 1) / m.tile[0] / m.strides);
    if (c.dims() < 2) return choose_row_group(c, units_x);
    const int64_t units_y = std::max<int64_t>(1, c.traits.y / m.tile[1]);
    const int64_t lanes = c.profile.subgroup_size;
    const uint32_t largest = std::min<uint32_t>(costs::kLargeGroup, c.profile.max_group_size);
    const bool square = !c.rules().in_turn && c.traits.loops;
    const uint32_t width = square ? costs::kSquareGroup : c.rules().wide_group;
    m.group_x = std::min<uint32_t>(std::min(width, largest),
                                   std::max<uint32_t>(round_up(units_x, lanes), lanes));
    int64_t rows = std::min<int64_t>(largest / m.group_x, units_y);
    auto groups = [&] {
        return (units_x + m.group_x - 1) / m.group_x * ((units_y + rows - 1) / rows);
    };
    while (rows > 1 && groups() < c.rules().groups_per_core) rows /= 2;
    while (m.group_x > lanes && m.group_x % 2 == 0 && groups() < c.rules().groups_per_core)
        m.group_x /= 2;
    m.group_y = static_cast<uint32_t>(std::max<int64_t>(1, rows));
}

/// On a CPU driver a load costs as much where all lanes read the same element, and exchanging lanes
/// is cheap.
void choose_shuffles(Choice& c) {
    const int64_t lanes = c.profile.subgroup_size;
    if (!c.rules().in_turn || !c.profile.texel_loads || !lanes_share(c.profile) ||
        c.m.group_x % lanes != 0)
        return;
    const bool in_turn = c.nodes * lanes <= c.traits.bearable(costs::kDealtBudget) &&
                         c.traits.plain() && c.traits.loops && reads_in_turn(c.ready, lanes);
    if (in_turn) c.m.unroll = lanes;
    if (in_turn || c.dealt_copies) c.m.shuffled_loads = c.profile.subgroup_size;
}

void choose_unrolling(Choice& c) {
    Mapping& m = c.m;
    // Iterations that read far apart: more at once only spill.
    // An iteration that one lane takes, all do.
    const bool few = c.traits.unlike_rows || (c.traits.loops && strides_far(c.ready));
    const int64_t most = c.columns                  ? costs::kFarIterations / 2
                         : c.rules().in_turn && few ? costs::kFarIterations
                                                    : costs::kMostUnrolled;
    if (c.traits.plain() && c.traits.loops)
        while (m.written_out < costs::kShortLoop &&
               c.nodes * (m.written_out + 1) <= c.traits.bearable(costs::kWholeBudget))
            ++m.written_out;
    if (c.traits.loops)
        for (int64_t f = costs::kMostUnrolled; f > 1; f /= 2)
            if (m.unroll == 1 && f <= most && c.nodes * f <= c.traits.bearable(costs::kLoopBudget))
                m.unroll = f;
    m.collapsed_nests = collapses_nests(c.ready, c.profile, c.carried, m.unroll);
}

/// `may_stage`: groups may load together.
Mapping mapping_of_class(const KernelCode& ready, const DeviceProfile& profile,
                         const SymbolFacts& facts, bool may_stage) {
    const KernelTraits traits = kernel_traits(ready, profile, facts);
    if (const auto accumulates = choose_accumulators(ready, profile, facts, traits))
        return *accumulates;
    if (const auto matrix = choose_matrix(ready, profile, facts)) return *matrix;
    const bool staged =
        may_stage && traits.loops && stages_loads(ready, profile, traits.grid.size());
    if ((traits.loops || traits.rows) && !traits.unlike_rows && !reduces_rows(ready))
        if (const uint32_t lanes = choose_lanes(ready, profile, traits.total, staged); lanes > 1)
            return shared_mapping(ready, traits, profile, lanes, traits.total);
    Choice c{ready, profile, facts, traits, staged};
    choose_tile(c);
    choose_strides(c);
    choose_group(c);
    if (c.columns) c.m.group_x = profile.subgroup_size, c.m.group_y = 1;
    hold_rows(c.m, ready, profile, facts);
    choose_shuffles(c);
    choose_unrolling(c);
    if (staged) c.m.staged_iterations = choose_staged_iterations(ready, c.m, profile);
    return c.m;
}

}  // namespace

Mapping choose_mapping(const KernelCode& lowered, const DeviceProfile& profile,
                       const SymbolFacts& facts) {
    const bool may_stage = rules_of(profile).stages_loads;
    const Mapping m = mapping_of_class(lowered, profile, facts, may_stage);
    // A tile that was to be fed from shared memory is another one where it is not.
    return may_stage && m.staged_iterations == 1 ? mapping_of_class(lowered, profile, facts, false)
                                                 : m;
}

}  // namespace firn
