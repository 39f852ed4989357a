// The step `lanes`: decides whether the lanes of a subgroup share one index, and maps a kernel
// whose lanes do.
#include <algorithm>

#include "compiler/kernel/index_form.h"
#include "compiler/kernel/place.h"
#include "compiler/mapping/choice/choice.h"
#include "compiler/mapping/choice/grow_tile.h"
#include "compiler/mapping/choice/vary_mapping.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/collapse_nests.h"
#include "compiler/mapping/walk/loops_of_lanes.h"
#include "compiler/mapping/walk/map_grid.h"
#include "compiler/mapping/walk/row_groups.h"

namespace firn {
namespace {

/// The work that the lanes of a subgroup would share.
struct Sharing {
    int64_t iterations = 0;       // the most iterations of a loop that is dealt
    int64_t all_iterations = 0;   // the same, with the shared loops around it
    int64_t nest_iterations = 0;  // with those inside of it, too
    int64_t inside = 0;           // the most iterations of one of these
    bool repeated = false;        // every lane would take some other loop too
    bool along_loop = false;      // neighbouring iterations read neighbours in memory
    bool along_grid = false;      // neighbouring indices do
    bool streams = false;         // iterations read something that no other index reads too
    bool scattered = false;       // neighbouring indices read elements that are far apart
    bool blocks = true;           // rows hold whole blocks of four
};

Sharing inspect_sharing(KernelCode code, const DeviceProfile& profile) {
    place(code);
    const std::map<NodeId, SharedLoop> shared =
        loops_of_lanes(code, profile.subgroup_size, rules_of(profile).subgroups_run_serially);
    Sharing out;
    if (shared.empty()) return out;
    std::vector<RangeId> grid;  // x last
    for (RangeId r : code.ranges.ids())
        if (code[r].kind == RangeKind::Grid && !code[r].extent.is(1)) grid.push_back(r);
    const ByNode<std::vector<RegionId>> needs = region_needs(code);
    const ByRegion<RegionId> parents = region_parents(code);
    std::vector<RangeId> dealt;
    std::vector<RegionId> bodies;
    for (const auto& [loop, how] : shared) bodies.push_back(code[loop].as<BodyAttr>().region);
    auto inside = [&](RegionId body) {
        return std::find(bodies.begin(), bodies.end(), body) != bodies.end();
    };
    auto is_split = [&](RegionId body) {
        for (const auto& [loop, how] : shared)
            if (how.split && code[loop].as<BodyAttr>().region == body) return true;
        return false;
    };
    auto iterations_of = [&](RegionId region) {
        const int64_t most = code[code[region].range].max_trips;
        return most < 0 ? costs::kLargeExtent : most;
    };
    for (const auto& [loop, how] : shared) {
        const RegionId region = code[loop].as<BodyAttr>().region;
        int64_t all = 1;
        bool is_inside = false;
        for (RegionId at = region; at; at = parents[at]) {
            if (inside(at)) all = std::min(all * iterations_of(at), costs::kLargeExtent);
            is_inside |= at != region && is_split(at);
        }
        out.nest_iterations = std::max(out.nest_iterations, all);
        if (is_inside) out.inside = std::max(out.inside, iterations_of(region));
        if (!how.split) continue;
        out.all_iterations = std::max(out.all_iterations, all);
        const Range& range = code[code[region].range];
        dealt.push_back(code[region].range);
        out.blocks &= !range.extent.is(0) && range.extent.divisor() % kBlockWidth == 0;
        out.iterations = std::max(out.iterations, iterations_of(region));
    }
    // Fewer indices along x than lanes: a subgroup lies in several rows.
    const bool short_rows = !grid.empty() && code[grid.back()].extent.is_constant() &&
                            code[grid.back()].extent.constant() < int64_t{profile.subgroup_size};
    IndexForms forms(code);
    auto visit = [&](NodeId id) {
        const KernelNode& n = code[id];
        const bool in_shared = std::any_of(needs[id].begin(), needs[id].end(), inside);
        if (n.op == KernelOp::For && !shared.contains(id) && !in_shared) out.repeated = true;
        if (n.op != KernelOp::Load) return;
        const IndexForm& index = forms.of(n.args[0]);
        auto moves = [&](RangeId range) { return stride(index, range) != Stride::None; };
        out.streams |= in_shared && std::all_of(grid.begin(), grid.end(), moves);
        for (RangeId range : dealt) out.along_loop |= stride(index, range) == Stride::One;
        if (!in_shared || grid.empty()) return;
        const Stride along_x = stride(index, grid.back());
        out.along_grid |= along_x == Stride::One && !short_rows;
        out.scattered |= along_x == Stride::Other || (along_x == Stride::One && short_rows);
    };
    for (const KernelRegion& region : code.regions)
        for (NodeId id : region.order) visit(id);
    return out;
}

/// Returns how many subgroups whose lanes share keep all cores busy.
int64_t enough_shared(const Choice& c) {
    const int64_t slots =
        std::max<int64_t>(1, c.profile.parallel_invocations / c.profile.subgroup_size);
    return slots * (c.rules().subgroups_run_serially ? costs::kLeastShared : costs::kLeastGroups);
}

/// Grown from one index, or from three or five along a range of so many: a tile that was doubled
/// first has no room for these.
std::vector<int64_t> shared_tile(const Choice& c, const TileModel& model) {
    const std::vector<Size>& grid = c.traits.grid;
    const auto grown = [&](const std::vector<int64_t>& from) {
        return grow_tile(model, from, grid, c.traits.total, enough_shared(c), kSmallPrimes,
                         c.profile.max_body_operations, c.rules().most_carried, 1);
    };
    const std::vector<int64_t> one(grid.size(), 1);
    std::vector<int64_t> best = grown(one);
    for (size_t d = 0; d < grid.size(); ++d)
        for (int64_t several : {3, 5}) {
            if (grid[d].divisor() % several != 0 || c.traits.total / several < enough_shared(c))
                continue;
            std::vector<int64_t> from = one;
            from[d] = several;
            const std::vector<int64_t> tile = grown(from);
            if (model.time(tile) < costs::kLeastSaving * model.time(best)) best = tile;
        }
    return best;
}

/// Returns whether tiles are worth it: with few indices each invocation has one or a few, but if
/// lanes share indices there are enough invocations for tiles, whose copies share reads.
bool tiles_pay(const Choice& c) {
    const KernelTraits& traits = c.traits;
    if (!traits.plain() || traits.grid.empty()) return false;
    const TileModel shared(c.ready, true);
    const std::vector<int64_t> tile = shared_tile(c, shared);
    int64_t copies = 1;
    for (int64_t t : tile) copies *= t;
    if (traits.total / copies >= c.busy()) return false;  // they are enough anyway
    const TileModel alone(c.ready, false);
    const std::vector<int64_t> one(traits.grid.size(), 1);
    const std::vector<int64_t> few =
        grow_tile(alone, one, traits.grid, traits.total, c.busy(), kTwos,
                  c.profile.max_body_operations, c.rules().most_carried, c.least_width());
    return shared.time(tile) <
           costs::kLeastSaving * padded_time(alone, few, traits.grid, c.least_width());
}

/// Returns whether it is faster if lanes share one index. On a CPU driver the gain is in loads of
/// whole blocks of long rows, on a GPU and in native code in neighbouring lanes that read
/// neighbours; on all it is in filling a device that the grid alone leaves idle, unless
/// neighbouring indices read neighbours as they are. Products of matrices, whose neighbouring
/// indices read the same rows again and again, run faster tiled, or in shared memory if loads are
/// staged.
bool pays(const Choice& c) {
    const DeviceProfile& profile = c.profile;
    if (!lanes_share(profile)) return false;
    const int64_t total = c.traits.total;
    const uint32_t lanes = profile.subgroup_size;
    const Sharing sharing = inspect_sharing(c.ready, profile);
    const ClassRules& rules = c.rules();
    // Lanes that share a nest exchange values only at its end; on a CPU driver entering a loop of
    // few iterations costs more than the iterations do.
    const bool nested = !rules.subgroups_run_serially && sharing.iterations >= lanes;
    const int64_t iterations = nested ? sharing.all_iterations : sharing.iterations;
    const auto fills_idle_cores = [&] {
        return rules.subgroups_run_serially &&
               sharing.nest_iterations >= costs::kLongShare * lanes && tiles_pay(c);
    };
    if (sharing.repeated) return false;
    // A loop this short is written out, so entering it costs nothing.
    if (iterations < rules.least_share * lanes)
        return sharing.iterations >= lanes && fills_idle_cores();
    const int64_t busy = int64_t{profile.parallel_invocations} * rules.waves_of_shared;
    const bool idle = sharing.along_grid
                          ? total * lanes * lanes < busy
                          : total * (rules.subgroups_run_serially ? lanes : 1) < busy;
    const bool rows =
        sharing.along_loop && !sharing.along_grid && (sharing.streams || sharing.scattered);
    const bool better = rows && !c.staged &&
                        (!rules.subgroups_run_serially || rules.lanes_load_together ||
                         (sharing.blocks && sharing.all_iterations >= costs::kLongShare * lanes));
    return idle || better || fills_idle_cores();
}

std::optional<Mapping> choose_whole_mapping(const Choice& c) {
    const KernelTraits& traits = c.traits;
    const DeviceProfile& profile = c.profile;
    if ((!traits.loops && !traits.rows) || traits.unlike_rows || reduces_rows(c.ready) || !pays(c))
        return std::nullopt;
    const uint32_t lanes = profile.subgroup_size;
    int64_t total = traits.total;
    Mapping m;
    m.lanes = lanes;
    const ClassRules& rules = c.rules();
    const int64_t slots = std::max<int64_t>(1, profile.parallel_invocations / lanes);
    const std::vector<Size>& grid = traits.grid;
    m.tile.assign(grid.size(), 1);
    int64_t nodes = traits.nodes, carried = 0;
    if (!traits.rows && !traits.divergent && !traits.ends_early) {
        const TileModel model(c.ready, true);
        m.tile = shared_tile(c, model);
        nodes = model.loop_nodes(m.tile);
        total /= m.copies();
        carried = model.carried(m.tile);
    }
    int64_t subgroups = 1;  // of a group: more only where groups remain for every core
    // On a CPU driver a row that is walked again stays in the first cache where no other one comes
    // between.
    const int64_t most = rules.subgroups_run_serially && traits.rows ? 1 : rules.sharing_subgroups;
    while (subgroups < most && subgroups * lanes * 2 <= profile.max_group_size &&
           total >= subgroups * 2 * slots * rules.groups_per_core)
        subgroups *= 2;
    m.group.x = static_cast<uint32_t>(subgroups * lanes);
    while (!traits.divergent && !traits.ends_early && m.written_out < costs::kShortLoop &&
           nodes * (m.written_out + 1) <= std::min(costs::kWholeBudget, traits.most_nodes))
        ++m.written_out;
    // Blocks of four along the loop are worth more than a short body, where several copies read
    // them.
    const bool unrolls = inspect_sharing(c.ready, profile).inside <= m.written_out;
    for (int64_t f = rules.most_unrolled_shared; unrolls && f > 1; f /= 2) {
        const int64_t budget = rules.subgroups_run_serially && m.copies() > 1 && f <= 4
                                   ? costs::kDealtBudget
                                   : costs::kLoopBudget;
        if (m.unroll == 1 && nodes * f <= std::min(budget, traits.most_nodes)) m.unroll = f;
    }
    m.collapsed_nests = collapses_nests(c.ready, profile, carried, m.unroll * lanes);
    return m;
}

void vary(Variations& v) {
    const uint32_t lanes = v.profile.subgroup_size;
    if (!v.loops || !lanes_share(v.profile) || loops_of_lanes(v.ready, lanes).empty()) return;
    v.with([&](Mapping& m) {
        m.lanes = v.from.lanes > 1 ? 1 : lanes;
        m.group.y = 1;
        drop(m, {"shuffle", "stage"});
    });
}

}  // namespace

const StepRules mapping_step::lanes{.excludes = "shuffle stage",
                                    .why_not = why_lanes_do_not_share,
                                    .choose_whole_mapping = choose_whole_mapping,
                                    .vary = vary};

}  // namespace firn
