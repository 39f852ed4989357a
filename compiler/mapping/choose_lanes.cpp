// Whether the lanes of a subgroup share one index, and what a kernel whose lanes do is mapped to.
#include <algorithm>

#include "compiler/kernel/index_form.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/choose_parts.h"
#include "compiler/mapping/collapse_nests.h"
#include "compiler/mapping/map_grid.h"
#include "compiler/mapping/share_loops.h"
#include "compiler/program/cost_table.h"
#include "compiler/program/device_class.h"

namespace firn {
namespace {

/// What the lanes of a subgroup would share.
struct Sharing {
    int64_t iterations = 0;      // the most iterations of a loop that is dealt
    int64_t all_iterations = 0;  // the same, with the shared loops around it
    bool repeated = false;       // every lane would take some other loop too
    bool along_loop = false;     // neighbouring iterations read neighbours in memory
    bool along_grid = false;     // neighbouring indices do
    bool streams = false;        // iterations read something that no other index reads too
    bool scattered = false;      // neighbouring indices read what is far apart
    bool blocks = true;          // rows hold whole blocks of four
};

Sharing inspect_sharing(KernelCode code, const DeviceProfile& profile) {
    place(code);
    const std::map<int, SharedLoop> shared = share_loops(code, profile.subgroup_size);
    Sharing out;
    if (shared.empty()) return out;
    std::vector<int> grid;  // x last
    for (size_t r = 0; r < code.ranges.size(); ++r)
        if (code.ranges[r].kind == RangeKind::Grid && !code.ranges[r].extent.is(1))
            grid.push_back(static_cast<int>(r));
    const std::vector<std::vector<int>> needs = region_needs(code);
    const std::vector<int> parents = region_parents(code);
    std::vector<int> dealt, bodies;
    for (const auto& [loop, how] : shared) bodies.push_back(code.nodes[loop].region);
    auto inside = [&](int body) {
        return std::find(bodies.begin(), bodies.end(), body) != bodies.end();
    };
    auto iterations_of = [&](int region) {
        const int64_t most = code.ranges[code.regions[region].range].max_trips;
        return most < 0 ? costs::kLargeExtent : most;
    };
    for (const auto& [loop, how] : shared) {
        const int region = code.nodes[loop].region;
        if (!how.split) continue;
        const Range& range = code.ranges[code.regions[region].range];
        int64_t all = 1;
        for (int at = region; at >= 0; at = parents[at])
            if (inside(at)) all = std::min(all * iterations_of(at), costs::kLargeExtent);
        out.all_iterations = std::max(out.all_iterations, all);
        dealt.push_back(code.regions[region].range);
        out.blocks &= !range.extent.is(0) && range.extent.divisor() % 4 == 0;
        out.iterations = std::max(out.iterations, iterations_of(region));
    }
    // Fewer indices along x than lanes: a subgroup lies in several rows.
    const bool short_rows =
        !grid.empty() && code.ranges[grid.back()].extent.is_constant() &&
        code.ranges[grid.back()].extent.constant() < int64_t{profile.subgroup_size};
    IndexForms forms(code);
    auto visit = [&](int id) {
        const KernelNode& n = code.nodes[id];
        const bool in_shared = std::any_of(needs[id].begin(), needs[id].end(), inside);
        if (n.op == KernelOp::For && !shared.contains(id) && !in_shared) out.repeated = true;
        if (n.op != KernelOp::Load) return;
        const IndexForm& index = forms.of(n.args[0]);
        auto moves = [&](int range) { return stride(index, range) != Stride::None; };
        out.streams |= in_shared && std::all_of(grid.begin(), grid.end(), moves);
        for (int range : dealt) out.along_loop |= stride(index, range) == Stride::One;
        if (!in_shared || grid.empty()) return;
        const Stride along_x = stride(index, grid.back());
        out.along_grid |= along_x == Stride::One && !short_rows;
        out.scattered |= along_x == Stride::Other || (along_x == Stride::One && short_rows);
    };
    for (const KernelRegion& region : code.regions)
        for (int id : region.order) visit(id);
    return out;
}

}  // namespace

uint32_t choose_lanes(const KernelCode& lowered, const DeviceProfile& profile, int64_t total,
                      bool staged) {
    if (!lanes_share(profile)) return 1;
    const uint32_t lanes = profile.subgroup_size;
    const Sharing sharing = inspect_sharing(lowered, profile);
    if (sharing.repeated || sharing.iterations < costs::kLeastShare * lanes) return 1;
    const ClassRules& rules = rules_of(profile);
    const int64_t busy = int64_t{profile.parallel_invocations} * rules.turns_of_shared;
    const bool idle = sharing.along_grid ? total * lanes * lanes < busy
                                         : total * (rules.in_turn ? lanes : 1) < busy;
    const bool rows =
        sharing.along_loop && !sharing.along_grid && (sharing.streams || sharing.scattered);
    const bool better =
        rows && !staged &&
        (!rules.in_turn || (sharing.blocks && sharing.all_iterations >= costs::kLongShare * lanes));
    return idle || better ? lanes : 1;
}

Mapping shared_mapping(const KernelCode& lowered, const KernelTraits& traits,
                       const DeviceProfile& profile, uint32_t lanes, int64_t total) {
    Mapping m;
    m.lanes = lanes;
    const ClassRules& rules = rules_of(profile);
    const int64_t slots = std::max<int64_t>(1, profile.parallel_invocations / lanes);
    const std::vector<Size> grid = grid_extents(lowered);
    m.tile.assign(grid.size(), 1);
    int64_t nodes = traits.nodes, carried = 0;
    if (!traits.rows && !traits.divergent) {
        const TileModel model(lowered, true);
        m.tile = grow_tile(model, m.tile, grid, total, slots * costs::kLeastGroups, true,
                           traits.most_nodes);
        nodes = model.loop_nodes(m.tile);
        total /= m.copies();
        carried = model.carried(m.tile);
    }
    int64_t subgroups = 1;  // of a group: more only where groups remain for every core
    // On a CPU driver a row that is walked again stays in the first cache where no other one comes
    // between.
    const int64_t most = rules.in_turn && traits.rows ? 1 : rules.sharing_subgroups;
    while (subgroups < most && subgroups * lanes * 2 <= profile.max_group_size &&
           total >= subgroups * 2 * slots * rules.groups_per_core)
        subgroups *= 2;
    m.group_x = static_cast<uint32_t>(subgroups * lanes);
    while (!traits.divergent && m.written_out < costs::kShortLoop &&
           nodes * (m.written_out + 1) <= std::min(costs::kWholeBudget, traits.most_nodes))
        ++m.written_out;
    // Blocks of four along the loop are worth more than a short body, where several copies read
    // them.
    for (int64_t f = rules.most_unrolled_shared; f > 1; f /= 2) {
        const int64_t budget =
            rules.in_turn && m.copies() > 1 && f <= 4 ? costs::kDealtBudget : costs::kLoopBudget;
        if (m.unroll == 1 && nodes * f <= std::min(budget, traits.most_nodes)) m.unroll = f;
    }
    m.collapsed_nests = collapses_nests(lowered, profile, carried, m.unroll * lanes);
    return m;
}

}  // namespace firn
