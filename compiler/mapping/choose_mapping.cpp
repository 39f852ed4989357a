// The schedule templates: what mapping a kernel gets on a CPU driver and on a GPU (limits.md, 11
// and 12).
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "compiler/kernel/place.h"
#include "compiler/kernel/strides.h"
#include "compiler/mapping/accumulators.h"
#include "compiler/mapping/map.h"
#include "compiler/mapping/map_grid.h"
#include "compiler/mapping/matrix_units.h"
#include "compiler/mapping/row_groups.h"
#include "compiler/mapping/share_loops.h"
#include "compiler/mapping/stage_loads.h"
#include "compiler/mapping/tile_model.h"

namespace firn {
namespace {

constexpr int64_t kLargeExtent = 1 << 20;  // as good as any larger extent
constexpr int64_t kLargeTotal = int64_t{1} << 40;
constexpr int64_t kLeastGroups = 8;    // workgroups that share a CPU's cores evenly
constexpr uint32_t kLargeGroup = 256;  // invocations, where the device has as many
constexpr int64_t kBodyBudget = 700;   // nodes of an invocation's body after expansion
constexpr int64_t kLongBody =
    250;  // nodes that keep a core busy alone: four such stand one after the other
constexpr int64_t kLoopBudget =
    900;  // nodes of an unrolled loop body: iterations are dear on a CPU
constexpr int64_t kDealtBudget = 2600;  // the same, where lanes hand round what they load
constexpr int64_t kTileBudget = 1000;   // nodes of an iteration in a register tile
constexpr int64_t kWholeBudget = 2600;  // nodes of a short loop that is written out
constexpr int64_t kShortLoop = 8;       // its iterations
constexpr int64_t kMostCarried = 72;    // values that its loops carry
constexpr int64_t kLoadedOnCpu =
    36;  // vectors that a stencil's tile loads: the driver spills what is more
constexpr int64_t kMuchCarried = 16;   // values that make entering a loop dear
constexpr int64_t kLongInside = 16;    // iterations of an inner loop that make entering it cheap
constexpr int64_t kLongestTile = 9;    // neighbours along one range
constexpr double kLeastSaving = 0.93;  // of an iteration's time, that makes a tile worth doubling
constexpr int64_t kFarIterations = 4;  // iterations at once that read far apart
constexpr int64_t kStagedShare = 4;    // of what runs at once that is enough in tiles of registers
constexpr int64_t kLeastShare = 4;     // iterations of a loop per lane that are worth combining
constexpr int64_t kLongShare =
    64;  // iterations per lane that pay for a subgroup's fixed costs on a CPU

int64_t extent_or_large(const Size& s, const SymbolFacts& facts) {
    return std::min(kLargeExtent, s.upper_bound(facts.largest));
}

struct Traits {
    int64_t nodes = 0;
    int64_t most_nodes = 0;  // of such that a body may have for the driver's compiler
    bool loops = false, divergent = false;
    bool rows = false;         // stores stand in loops: each invocation walks a row
    bool unlike_rows = false;  // of lengths that differ
    bool shifted = false;      // some access is not at the invocation's own index
};

/// A branch around loops: elements side by side would each go their own way.
bool takes_loops_by_choice(const KernelCode& code, const KernelNode& n) {
    if (n.op != KernelOp::Branch || n.guard) return false;
    for (int body : {n.region, n.else_region})
        if (body >= 0)
            for (int id : code.regions[body].order)
                if (code.nodes[id].op == KernelOp::For ||
                    takes_loops_by_choice(code, code.nodes[id]))
                    return true;
    return false;
}

Traits inspect(KernelCode code, const DeviceProfile& profile) {
    place(code);
    Traits traits;
    double operations = 0;
    auto visit = [&](int id) {
        const KernelNode& n = code.nodes[id];
        ++traits.nodes;
        operations += operations_of(n);
        traits.loops |= n.op == KernelOp::For;
        if (n.op == KernelOp::Load) traits.shifted |= !is_at_own_index(code, n);
    };
    for (const KernelRegion& region : code.regions) {
        for (int id : region.order) visit(id);
        for (int id : region.effects) {
            visit(id);
            if (code.nodes[id].op != KernelOp::For) continue;
            const int extent = code.ranges[code.regions[code.nodes[id].region].range].extent_node;
            traits.rows = true;
            traits.unlike_rows |= code.nodes[extent].op != KernelOp::Constant &&
                                  code.nodes[extent].op != KernelOp::Param;
        }
        traits.divergent |= region.alive >= 0;
        for (int id : region.order) traits.divergent |= takes_loops_by_choice(code, code.nodes[id]);
        if (region.range >= 0 && code.ranges[region.range].extent_node >= 0 &&
            code.nodes[code.ranges[region.range].extent_node].op != KernelOp::Constant &&
            code.nodes[code.ranges[region.range].extent_node].op != KernelOp::Param)
            traits.divergent |= true;  // trips may differ per invocation
    }
    traits.most_nodes =
        static_cast<int64_t>(profile.max_body_operations * static_cast<double>(traits.nodes) /
                             std::max(1.0, operations));
    return traits;
}

uint32_t round_up(int64_t value, int64_t step) {
    return static_cast<uint32_t>((value + step - 1) / step * step);
}

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
        return most < 0 ? kLargeExtent : most;
    };
    for (const auto& [loop, how] : shared) {
        const int region = code.nodes[loop].region;
        if (!how.split) continue;
        const Range& range = code.ranges[code.regions[region].range];
        int64_t all = 1;
        for (int at = region; at >= 0; at = parents[at])
            if (inside(at)) all = std::min(all * iterations_of(at), kLargeExtent);
        out.all_iterations = std::max(out.all_iterations, all);
        dealt.push_back(code.regions[region].range);
        out.blocks &= !range.extent.is(0) && range.extent.divisor() % 4 == 0;
        out.iterations = std::max(out.iterations, iterations_of(region));
    }
    Strides strides(code);
    auto visit = [&](int id) {
        const KernelNode& n = code.nodes[id];
        const bool in_shared = std::any_of(needs[id].begin(), needs[id].end(), inside);
        if (n.op == KernelOp::For && !shared.contains(id) && !in_shared) out.repeated = true;
        if (n.op != KernelOp::Load) return;
        auto moves = [&](int range) { return strides.along(n.args[0], range) != Stride::None; };
        out.streams |= in_shared && std::all_of(grid.begin(), grid.end(), moves);
        for (int range : dealt) out.along_loop |= strides.along(n.args[0], range) == Stride::One;
        if (!in_shared || grid.empty()) return;
        const Stride along_x = strides.along(n.args[0], grid.back());
        out.along_grid |= along_x == Stride::One;
        out.scattered |= along_x == Stride::Other;
    };
    for (const KernelRegion& region : code.regions)
        for (int id : region.order) visit(id);
    return out;
}

/// Lanes that share one index, where that is faster. On a CPU driver the gain is in loads of whole
/// blocks of long rows, on a GPU in neighbouring lanes that read neighbours; on both it is in
/// filling a device that the grid alone leaves idle, unless neighbouring indices read neighbours as
/// they are. Products of matrices, whose neighbouring indices read the same rows again and again,
/// are better tiled; `staged`: in shared memory.
uint32_t choose_lanes(const KernelCode& lowered, const DeviceProfile& profile, int64_t total,
                      bool staged) {
    if (!lanes_share(profile)) return 1;
    const uint32_t lanes = profile.subgroup_size;
    const Sharing sharing = inspect_sharing(lowered, profile);
    if (sharing.repeated || sharing.iterations < kLeastShare * lanes) return 1;
    const bool cpu = profile.device_class == DeviceClass::Cpu;
    const int64_t busy = int64_t{profile.parallel_invocations} * (cpu ? 16 : 1);
    const bool idle =
        sharing.along_grid ? total * lanes * lanes < busy : total * (cpu ? lanes : 1) < busy;
    const bool rows =
        sharing.along_loop && !sharing.along_grid && (sharing.streams || sharing.scattered);
    const bool better = rows && !staged &&
                        (!cpu || (sharing.blocks && sharing.all_iterations >= kLongShare * lanes));
    return idle || better ? lanes : 1;
}

/// Iterations of the longest innermost loop that is written out where an iteration is short enough;
/// 1: there is none.
int64_t short_iterations(KernelCode code) {
    place(code);
    int64_t most = 1;
    for (const KernelRegion& region : code.regions) {
        const bool inside = std::any_of(region.order.begin(), region.order.end(),
                                        [&](int id) { return code.nodes[id].op == KernelOp::For; });
        if (region.range < 0 || inside) continue;
        const int64_t iterations = code.ranges[region.range].max_trips;
        if (iterations <= kShortLoop) most = std::max(most, iterations);
    }
    return most;
}

/// The register tile of a kernel with loops: grown step by step along the range where that saves
/// most, from `tile` on. `total`: indices of the grid, of which every core must keep some;
/// `iterations` of a loop are written out, which saves more than what does not fit then.
/// `most_nodes`: of a body.
std::vector<int64_t> grow_tile(const TileModel& model, std::vector<int64_t> tile,
                               const std::vector<Size>& grid, int64_t total, int64_t busy,
                               bool lanes_share, int64_t most_nodes, int64_t iterations = 1) {
    const std::vector<int64_t> factors =
        lanes_share ? std::vector<int64_t>{3, 5, 2} : std::vector<int64_t>{2};
    for (bool grown = true; grown;) {
        grown = false;
        double best = model.time(tile) * kLeastSaving;
        std::vector<int64_t> next = tile;
        for (size_t d = 0; d < grid.size(); ++d) {
            const int64_t divisor = grid[d].divisor();
            for (int64_t factor : factors) {
                std::vector<int64_t> larger = tile;
                larger[d] *= factor;
                const int64_t copies =
                    std::accumulate(larger.begin(), larger.end(), int64_t{1}, std::multiplies<>());
                if (larger[d] > kLongestTile || divisor % larger[d] != 0 || grid[d].is(0) ||
                    total / copies < busy || model.carried(larger) > kMostCarried ||
                    model.nodes(larger) > std::min(kTileBudget, most_nodes) ||
                    model.loop_nodes(larger) * iterations > std::min(kWholeBudget, most_nodes))
                    continue;
                // A step of three is worth more than one of two.
                const double time =
                    std::pow(model.time(larger) / model.time(tile), 1 / std::log2(factor)) *
                    model.time(tile);
                if (time >= best) continue;
                best = time;
                next = larger;
                grown = true;
            }
        }
        tile = next;
    }
    return tile;
}

/// Some nest of loops had better run as one: with what it carries, entering a loop is dear on a CPU
/// driver, which copies all of it under a mask. What stood between the loops is computed in every
/// iteration then, so it is index arithmetic alone, and the inner loop is not long.
bool collapses_nests(KernelCode code, const DeviceProfile& profile, int64_t carried,
                     int64_t iterations_at_once) {
    if (profile.device_class != DeviceClass::Cpu || carried < kMuchCarried) return false;
    place(code);
    auto joins = [&](const KernelNode& n) {
        if (n.op != KernelOp::For) return false;
        const int inner = handed_through(code, static_cast<int>(&n - code.nodes.data()));
        if (inner < 0) return false;
        const KernelRegion& outside = code.regions[n.region];
        const KernelRegion& body = code.regions[code.nodes[inner].region];
        const bool plain = std::all_of(outside.order.begin(), outside.order.end(), [&](int id) {
            const KernelOp op = code.nodes[id].op;
            return id == inner || op == KernelOp::Result ||
                   (op != KernelOp::Load && is_elementwise(op));
        });
        const Range& range = code.ranges[body.range];
        return plain && (range.max_trips < 0 || !range.extent.is_constant() ||
                         range.max_trips <= kLongInside * iterations_at_once);
    };
    for (const KernelRegion& region : code.regions)
        for (int id : region.order)
            if (joins(code.nodes[id])) return true;
    return false;
}

/// Unrolling and groups of a kernel whose indices are shared by `lanes` each.
Mapping shared_mapping(const KernelCode& lowered, const Traits& traits,
                       const DeviceProfile& profile, uint32_t lanes, int64_t total) {
    Mapping m;
    m.lanes = lanes;
    const bool cpu = profile.device_class == DeviceClass::Cpu;
    const int64_t slots = std::max<int64_t>(1, profile.parallel_invocations / lanes);
    const std::vector<Size> grid = grid_extents(lowered);
    m.tile.assign(grid.size(), 1);
    int64_t nodes = traits.nodes, carried = 0;
    if (!traits.rows && !traits.divergent) {
        const TileModel model(lowered, true);
        m.tile =
            grow_tile(model, m.tile, grid, total, slots * kLeastGroups, true, traits.most_nodes);
        nodes = model.loop_nodes(m.tile);
        total /= m.copies();
        carried = model.carried(m.tile);
    }
    int64_t subgroups = 1;  // of a group: more only where groups remain for every core
    // On a CPU driver a row that is walked again stays in the first cache where no other one comes
    // between.
    while (subgroups < (!cpu          ? 4
                        : traits.rows ? 1
                                      : 8) &&
           subgroups * lanes * 2 <= profile.max_group_size &&
           total >= subgroups * 2 * slots * (cpu ? kLeastGroups : 1))
        subgroups *= 2;
    m.group_x = static_cast<uint32_t>(subgroups * lanes);
    while (!traits.divergent && m.written_out < kShortLoop &&
           nodes * (m.written_out + 1) <= std::min(kWholeBudget, traits.most_nodes))
        ++m.written_out;
    // Blocks of four along the loop are worth more than a short body, where several copies read
    // them.
    for (int64_t f : {32, 16, 8, 4, 2}) {
        const int64_t budget = cpu && m.copies() > 1 && f <= 4 ? kDealtBudget : kLoopBudget;
        if (m.unroll == 1 && (cpu || f <= 16) && nodes * f <= std::min(budget, traits.most_nodes))
            m.unroll = f;
    }
    m.collapsed_nests = collapses_nests(lowered, profile, carried, m.unroll * lanes);
    return m;
}

/// The groups of a GPU that share what they read are square: each element is read as often as can
/// be.
constexpr uint32_t kSquare = 16;
constexpr int64_t kStagedTile = 4;

/// They would, in such groups, where each invocation has one index, or neighbours along some range.
bool stages_loads(const KernelCode& lowered, const DeviceProfile& profile, size_t dims) {
    Mapping m;
    m.group_x = std::min(dims < 2 ? kLargeGroup : kSquare, profile.max_group_size);
    m.group_y = dims < 2 ? 1 : std::min(kSquare, profile.max_group_size / m.group_x);
    if (choose_staged_iterations(lowered, m, profile) > 1) return true;
    for (size_t d = 0; d < dims; ++d) {
        m.tile.assign(dims, 1);
        m.tile[d] = kStagedTile;
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

/// `may_stage`: groups may load together.
Mapping mapping_of_class(const KernelCode& lowered, const DeviceProfile& profile,
                         const SymbolFacts& facts, bool may_stage) {
    const std::vector<Size> grid = grid_extents(lowered);
    const size_t dims = grid.size();
    const Traits traits = inspect(lowered, profile);
    const bool cpu = profile.device_class == DeviceClass::Cpu;
    std::vector<int64_t> extents{1, 1};
    int64_t total = 1;
    for (size_t d = 0; d < dims; ++d) {
        if (extents.size() <= d) extents.push_back(1);
        extents[d] = extent_or_large(grid[d], facts);
        total = std::min(total * extents[d], kLargeTotal);
    }
    if (const auto near = choose_accumulators(lowered, profile, facts, traits.nodes,
                                              traits.most_nodes, traits.loops))
        return *near;
    if (!cpu)
        if (const auto matrix = choose_matrix(lowered, profile, facts)) return *matrix;
    const int64_t x = extents[0], y = extents[1];
    const bool staged = may_stage && traits.loops && stages_loads(lowered, profile, dims);
    if ((traits.loops || traits.rows) && !traits.unlike_rows && !reduces_rows(lowered))
        if (const uint32_t lanes = choose_lanes(lowered, profile, total, staged); lanes > 1)
            return shared_mapping(lowered, traits, profile, lanes, total);
    Mapping m;
    m.tile.assign(std::max<size_t>(dims, 1), 1);
    const bool by_four = dims > 0 && grid[0].divisor() % 4 == 0 && x > 0;
    const bool padded = dims == 1 && may_pass_the_end(lowered);
    // Enough invocations must remain to keep the device busy, fewer where each has much to do that
    // nothing waits for.
    const int64_t busy =
        staged ? profile.parallel_invocations / kStagedShare
               : int64_t{profile.parallel_invocations} * (cpu ? (traits.loops ? 8 : 1) : 4);
    auto room = [&](int64_t factor) {
        return traits.nodes * m.copies() * factor <= std::min(kBodyBudget, traits.most_nodes) &&
               total / (m.copies() * factor) >= busy;
    };
    const bool plain = !traits.divergent && !traits.rows;
    // What long bodies compute one after the other they load and store in fours.
    const bool in_turn = cpu && by_four && !traits.loops && traits.nodes >= kLongBody &&
                         traits.nodes * 4 <= traits.most_nodes && total / 4 >= busy;
    if (plain && (((by_four || padded) && room(4)) || in_turn)) m.tile[0] = 4;
    int64_t nodes = traits.nodes * m.copies();
    int64_t carried = 0;
    bool dealt_copies =
        false;  // of a tile: as many as a subgroup has lanes, with loads of their own
    if (plain && traits.loops && dims >= 2) {
        const TileModel model(lowered, false);
        m.tile = grow_tile(model, m.tile, grid, total, busy, false, traits.most_nodes,
                           short_iterations(lowered));
        nodes = model.loop_nodes(m.tile);
        carried = model.carried(m.tile);
        for (size_t d = 1; d < dims; ++d)
            dealt_copies |= m.tile[d] % profile.subgroup_size == 0 && model.same_along_x(d);
    } else if (plain && dims >= 2 && traits.shifted) {
        const int64_t vectors = loaded_tensors(lowered) * m.tile[0];
        for (int64_t u : {4, 2})
            if (m.tile[1] == 1 && grid[1].divisor() % u == 0 && y > 0 && room(u) &&
                (!cpu || vectors * u <= kLoadedOnCpu))
                m.tile[1] = u;
        nodes = traits.nodes * m.copies();
    }
    const bool streams = dims == 1 && plain && !traits.loops && cpu;
    if (streams && room(4) && total >= 65536) m.strides = 4;
    // On a CPU driver longer pieces of rows, one after the other: memory is read in order.
    const bool columns =
        cpu && plain && traits.loops && m.tile[0] == 4 && room(4) && walks_columns(lowered);
    if (columns) m.strides = 4;

    const int64_t units_x = std::max<int64_t>(1, (x + m.tile[0] - 1) / m.tile[0] / m.strides);
    const int64_t units_y = std::max<int64_t>(1, dims >= 2 ? y / m.tile[1] : 1);
    const int64_t lanes = profile.subgroup_size;
    const uint32_t largest = std::min<uint32_t>(kLargeGroup, profile.max_group_size);
    if (dims < 2) {
        const int64_t share = cpu ? units_x / kLeastGroups : units_x;
        m.group_x = std::min<uint32_t>(cpu && traits.loops ? std::min(64u, largest) : largest,
                                       std::max<uint32_t>(round_up(share, lanes), lanes));
    } else {
        const bool square = !cpu && traits.loops;
        m.group_x = std::min<uint32_t>(std::min(square ? kSquare
                                                : cpu  ? 64u
                                                       : 32u,
                                                largest),
                                       std::max<uint32_t>(round_up(units_x, lanes), lanes));
        const int64_t most = largest / m.group_x;
        int64_t rows_per_group = std::min<int64_t>(most, units_y);
        auto groups = [&] {
            return (units_x + m.group_x - 1) / m.group_x *
                   ((units_y + rows_per_group - 1) / rows_per_group);
        };
        while (cpu && rows_per_group > 1 && groups() < kLeastGroups) rows_per_group /= 2;
        while (cpu && m.group_x > lanes && m.group_x % 2 == 0 && groups() < kLeastGroups)
            m.group_x /= 2;
        m.group_y = static_cast<uint32_t>(std::max<int64_t>(1, rows_per_group));
    }
    if (columns) m.group_x = static_cast<uint32_t>(lanes), m.group_y = 1;
    hold_rows(m, lowered, profile, facts);
    // On a CPU driver a load costs as much where all lanes read the same element, and exchanging
    // lanes is cheap.
    const bool deals = cpu && profile.texel_loads && lanes_share(profile) && m.group_x % lanes == 0;
    if (deals && nodes * lanes <= std::min(kDealtBudget, traits.most_nodes) && plain &&
        traits.loops && reads_in_turn(lowered, lanes)) {
        m.shuffled_loads = profile.subgroup_size;
        m.unroll = lanes;
    } else if (deals && dealt_copies) {
        m.shuffled_loads = profile.subgroup_size;
    }
    // Iterations that read far apart: more at once only spill.
    // An iteration that one lane takes, all do.
    const bool few = traits.unlike_rows || (traits.loops && strides_far(lowered));
    const int64_t most_iterations = columns ? kFarIterations / 2 : cpu && few ? kFarIterations : 16;
    if (plain && traits.loops)
        while (m.written_out < kShortLoop &&
               nodes * (m.written_out + 1) <= std::min(kWholeBudget, traits.most_nodes))
            ++m.written_out;
    if (!traits.divergent || traits.loops)
        for (int64_t f : {16, 8, 4, 2})
            if (m.unroll == 1 && traits.loops && f <= most_iterations &&
                nodes * f <= std::min(kLoopBudget, traits.most_nodes))
                m.unroll = f;
    m.collapsed_nests = collapses_nests(lowered, profile, carried, m.unroll);
    if (staged) m.staged_iterations = choose_staged_iterations(lowered, m, profile);
    return m;
}

}  // namespace

Mapping choose_mapping(const KernelCode& lowered, const DeviceProfile& profile,
                       const SymbolFacts& facts) {
    const bool may_stage = profile.device_class != DeviceClass::Cpu;
    const Mapping m = mapping_of_class(lowered, profile, facts, may_stage);
    // A tile that was to be fed from shared memory is another one where it is not.
    return may_stage && m.staged_iterations == 1 ? mapping_of_class(lowered, profile, facts, false)
                                                 : m;
}

namespace {

/// Iterations in which an invocation clears memory of its own or its share of the group's.
int64_t clearing_iterations(const KernelCode& code, const KernelNode& array) {
    const KernelBuffer& b = code.buffers[array.buffer];
    if (!b.elements.is_constant()) return 0;
    const int64_t members = int64_t{code.group_size[0]} * code.group_size[1] * code.group_size[2];
    return b.space == MemorySpace::Shared ? (b.elements.constant() + members - 1) / members
                                          : b.elements.constant();
}

}  // namespace

int64_t count_back_edges(const KernelCode& code) {
    auto count = [&](auto&& self, int region_id) -> int64_t {
        int64_t total = 0;
        auto add = [&](int id) {
            const KernelNode& n = code.nodes[id];
            if (total >= 0 && n.op == KernelOp::Array) total += clearing_iterations(code, n);
            if (total < 0 || (n.op != KernelOp::For && n.op != KernelOp::Branch)) return;
            int64_t inside = self(self, n.region);
            if (n.else_region >= 0) {
                const int64_t other = self(self, n.else_region);
                inside = inside < 0 || other < 0 ? -1 : std::max(inside, other);
            }
            const int range = code.regions[n.region].range;
            const int64_t trips = range >= 0 ? code.ranges[range].max_trips : 0;
            if (inside < 0 || trips < 0)
                total = -1;
            else if (range < 0)
                total += inside;
            else if (trips > 0 && inside + 1 > INT64_MAX / 4 / trips)
                total = -1;
            else
                total += trips * (inside + 1);
        };
        for (int id : code.regions[region_id].order) add(id);
        for (int id : code.regions[region_id].effects) add(id);
        return total;
    };
    return count(count, 0);
}

}  // namespace firn
