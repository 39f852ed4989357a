// Small kernels as one group runs them.
#include "compiler/mapping/list/one_group.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/mapping/map.h"
#include "compiler/mapping/steps.h"
#include "compiler/mapping/walk/map_grid.h"
#include "compiler/program/size_env.h"
#include "compiler/target/class_rules.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Returns the seconds of an iteration of the grid, on all cores.
double seconds_of(const KernelCode& code, RegionId region, const DeviceProfile& profile) {
    const KernelRegion& r = code[region];
    const double operation = 1 / profile.operations_per_second;
    const ClassRules& rules = rules_of(profile);
    const double store =
        rules.store_operations > 0 ? rules.store_operations * operation : profile.seconds_per_load;
    const double atomic = rules.atomic_operations > 0 ? rules.atomic_operations * operation : store;
    double sum = 0;
    for (const std::vector<NodeId>* ids : {&r.order, &r.effects})
        for (NodeId id : *ids) {
            const KernelNode& n = code[id];
            if (n.op == KernelOp::Load)
                sum += profile.seconds_per_load;
            else if (n.op == KernelOp::Store)
                sum += store;
            else if (n.op == KernelOp::Atomic)
                sum += atomic;
            else if (n.op != KernelOp::For && n.op != KernelOp::Branch)
                sum += operation;
            for (RegionId inner : bodies(n)) {
                const RangeId range = code[inner].range;
                const int64_t most = range ? code[range].max_trips : 1;
                sum += seconds_of(code, inner, profile) *
                       (most < 0 ? costs::kUnknownTrips : static_cast<double>(most));
            }
        }
    return sum;
}

/// Returns whether a group for each band keeps the cores as busy as the kernel alone does: lanes
/// are not idle, and sharing between rows in one invocation would be worth no more than the saved
/// launch.
bool fills_bands(const KernelCode& lowered, const std::vector<Size>& grid, const Mapping& mapping,
                 const DeviceProfile& profile, const SymbolFacts& facts) {
    const double tile = mapping.tile_of(0) % kBlockWidth == 0 ? kBlockWidth : 1;
    if (estimate(grid[0], facts) < tile * band_group_size(profile)) return false;
    double seconds = seconds_of(lowered, kRoot, profile);
    for (const Size& extent : grid) seconds *= std::max(1.0, estimate(extent, facts));
    const bool shares = mapping.copies() > mapping.tile_of(0);
    return !shares || seconds <= costs::kBandLaunches * profile.seconds_per_launch;
}

/// Indices side by side along an axis.
int64_t members(const Mapping& mapping, size_t axis) {
    return axis == 0 ? mapping.group.x / mapping.lanes : axis == 1 ? mapping.group.y : 1;
}

double indices_of(const std::vector<Size>& grid, const SymbolFacts& facts) {
    double indices = 1;
    for (const Size& extent : grid) indices *= std::max(1.0, estimate(extent, facts));
    return indices;
}

/// Along one axis all of them; along several as many along x as it has tiles. `grid`: x first.
GroupShape stand(uint32_t invocations, const std::vector<Size>& grid, int64_t tile,
                 const SymbolFacts& facts) {
    if (grid.size() < 2) return {invocations, 1};
    const double tiles = std::ceil(estimate(grid[0], facts) / static_cast<double>(tile));
    const auto extent = static_cast<uint32_t>(std::clamp<double>(tiles, 1, invocations));
    const uint32_t x = std::min(std::bit_ceil(extent), invocations);
    return {x, invocations / x};
}

/// Returns how much longer one group takes than all cores, in seconds. `grid`: x first.
double excess_of(const KernelCode& lowered, const std::vector<Size>& grid, const Mapping& mapping,
                 const DeviceProfile& profile, const SymbolFacts& facts) {
    double indices = 1;  // of lanes that have nothing to do, too
    for (size_t d = 0; d < 2 || d < grid.size(); ++d) {
        const double extent = d < grid.size() ? std::max(1.0, estimate(grid[d], facts)) : 1;
        const auto wide = static_cast<double>(members(mapping, d));
        indices *= std::ceil(extent / wide) * wide;
    }
    return indices * seconds_of(lowered, kRoot, profile) * (groups_at_once(profile) - 1);
}

}  // namespace

uint32_t band_group_size(const DeviceProfile& profile) { return one_group_sizes(profile)[0]; }

namespace {

/// The extents of the grid, x first, where a group can walk the first `walked` of them.
std::optional<std::vector<Size>> walkable_grid(const KernelCode& lowered, const SymbolFacts& facts,
                                               size_t kept) {
    if (lowered.sizes_buffer >= 0 || lowered.in_order) return std::nullopt;
    const bool holds = std::any_of(lowered.nodes.begin(), lowered.nodes.end(),
                                   [](const KernelNode& n) { return n.op == KernelOp::RowReduce; });
    if (holds) return std::nullopt;
    std::vector<Size> grid = grid_extents(lowered);
    int64_t most = 1;
    for (size_t d = 0; d + kept < grid.size(); ++d) {
        // A dispatch that may be empty needs a guard, because the group runs it all the same.
        const int64_t largest = grid[d].upper_bound(facts.largest);
        if (largest < 1 || (d > 1 && !grid[d].is_constant())) return std::nullopt;
        if (largest > costs::kMostInOneGroup || (most *= largest) > costs::kMostInOneGroup)
            return std::nullopt;
    }
    return grid;
}

/// There are no more indices than subgroups, and loops in which each lane has a share.
bool leaves_lanes(const KernelCode& lowered, const std::vector<Size>& grid, uint32_t invocations,
                  const DeviceProfile& profile, const SymbolFacts& facts) {
    const int64_t lanes = profile.subgroup_size;
    if (!lanes_share(profile) || grid.empty() || invocations % lanes != 0 ||
        indices_of(grid, facts) * static_cast<double>(lanes) > invocations)
        return false;
    return std::any_of(lowered.regions.begin(), lowered.regions.end(), [&](const KernelRegion& r) {
        return r.range && lowered[r.range].max_trips >= costs::kLeastShareOfOne * lanes;
    });
}

/// A group of so many invocations walks the first axes of the grid; the last `kept` have groups of
/// their own. `lanes` share an index along x.
Mapping walking(const KernelCode& lowered, Mapping mapping, const std::vector<Size>& grid,
                size_t kept, uint32_t invocations, uint32_t lanes, const SymbolFacts& facts) {
    // Small kernels were counted with the work of one lane, and a group that stages operands loads
    // them once, before its blocks.
    mapping.lanes = lanes;
    mapping.staged_iterations = 1;
    mapping.matrix = {};
    mapping.shuffled_loads = mapping.strides = 1;
    mapping.tile = {mapping.tile_of(0) % kBlockWidth == 0 && lanes == 1 ? kBlockWidth : 1};
    if (pads_tiles(lowered, mapping)) mapping.tile = {1};
    const bool along_x = kept > 0 || lanes > 1;
    mapping.group =
        along_x ? GroupShape{invocations, 1} : stand(invocations, grid, mapping.tile[0], facts);
    mapping.walk.clear();
    for (size_t d = 0; d + kept < grid.size(); ++d) {
        const int64_t beside = members(mapping, d), tile = d == 0 ? mapping.tile[0] : 1,
                      wide = tile * beside;
        int64_t walk = (grid[d].upper_bound(facts.largest) + wide - 1) / wide;
        // A group without a walk does not test its index if its places are whole parts of the axis.
        const Size blocks = floor_div(grid[d] + Size(tile - 1), Size(tile));
        if (walk == 1 && !grid[d].is_constant() && blocks.divisor() % beside == 0) walk = 2;
        mapping.walk.push_back(walk);
    }
    return mapping;
}

}  // namespace

std::optional<OneGroupKernel> map_to_one_group(const KernelCode& lowered, uint32_t invocations,
                                               double most_excess, const DeviceProfile& profile,
                                               const SymbolFacts& facts,
                                               const KernelPassOptions& passes) {
    const auto grid = walkable_grid(lowered, facts, 0);
    if (!grid) return std::nullopt;
    const Mapping mapping = choose_mapping(lowered, profile, facts);
    if (mapping.accumulators != MemorySpace::Bound)
        return std::nullopt;  // filled before the blocks
    Mapping walk = walking(lowered, mapping, *grid, 0, invocations, 1, facts);
    if (leaves_lanes(lowered, *grid, invocations, profile, facts)) {
        Mapping of_lanes =
            walking(lowered, mapping, *grid, 0, invocations, profile.subgroup_size, facts);
        if (why_illegal({lowered, of_lanes, profile, facts}).empty()) walk = std::move(of_lanes);
    }
    const double excess = excess_of(lowered, *grid, walk, profile, facts);
    if (excess > most_excess) return std::nullopt;
    OneGroupKernel out{map_kernel(lowered, walk, profile, facts, passes), excess};
    if (out.code.back_edges < 0 || out.code.in_order) return std::nullopt;
    for (const Size& groups : out.code.groups)
        if (groups.upper_bound(facts.largest) > 1) return std::nullopt;
    return out;
}

std::optional<KernelCode> map_to_bands(const KernelCode& lowered, const DeviceProfile& profile,
                                       const SymbolFacts& facts, const KernelPassOptions& passes) {
    const auto grid = walkable_grid(lowered, facts, 1);
    if (!grid || grid->size() < 2) return std::nullopt;
    const Mapping mapping = choose_mapping(lowered, profile, facts);
    if (mapping.accumulators != MemorySpace::Bound || mapping.staged_iterations > 1 ||
        mapping.lanes > 1 || mapping.matrix ||
        !fills_bands(lowered, *grid, mapping, profile, facts))
        return std::nullopt;
    const Mapping walk = walking(lowered, mapping, *grid, 1, band_group_size(profile), 1, facts);
    KernelCode code = map_kernel(lowered, walk, profile, facts, passes);
    if (code.back_edges < 0 || code.in_order) return std::nullopt;
    // The groups lie along one axis: the bands.
    int axes = 0;
    for (const Size& groups : code.groups) {
        if (groups.is(1)) continue;
        if (!(groups == grid->back()) || ++axes > 1) return std::nullopt;
    }
    return code;
}

}  // namespace firn
