// The grid of a kernel by hand.
#include "compiler/lower/walk_by_hand_grid.h"

#include <algorithm>
#include <bit>

#include "compiler/kernel/launch_groups.h"
#include "compiler/target/class_rules.h"

namespace firn {
namespace {

/// Invocations of a group that the user leaves open. A group costs about as much as twelve
/// subgroups on CPU drivers (limits.md): for one of 32 subgroups that is a quarter, of 8 the larger
/// part. With as many groups as invocations that run at once every core is busy to the end.
constexpr int64_t kWideGroup = 256;

NodeId new_range(KernelBuilder& b, const char* name, RangeKind kind, const Size& extent,
                 size_t dim) {
    Range range;
    range.name = name;
    range.kind = kind;
    range.extent = extent;
    range.dim = static_cast<int>(dim);
    return b.range(b.add_range(range));
}

/// Numbers lanes so that neighbours form subgroups; no specification promises that for the numbers
/// of invocations.
NodeId deal_lanes(KernelBuilder& b, const std::vector<uint32_t>& group, int64_t lanes) {
    int64_t members = 1;
    for (uint32_t g : group) members *= g;
    const NodeId subgroup = new_range(b, "s", RangeKind::Subgroup, Size(members / lanes), 1);
    const NodeId lane = new_range(b, "t", RangeKind::Subgroup, Size(lanes), 0);
    return b.add(b.mul(subgroup, b.integer(lanes)), lane);
}

NodeId local_of_place(KernelBuilder& b, const std::vector<uint32_t>& group, NodeId place,
                      size_t axis) {
    int64_t stride = 1;
    for (size_t k = axis + 1; k < group.size(); ++k) stride *= group[k];
    const NodeId rows = b.make(KernelOp::Div, i32, {place, b.integer(stride)});
    return b.make(KernelOp::Mod, i32, {rows, b.integer(group[axis])});
}

/// Places along axes that are shorter than the group go to the innermost axis that is not.
void lend_idle_places(const Shape& grid, std::vector<uint32_t>& group) {
    const auto is_short = [&](size_t axis) {
        return grid[axis].is_constant() && grid[axis].constant() < group[axis];
    };
    size_t wide = grid.size();
    while (wide > 0 && is_short(wide - 1)) --wide;
    if (wide-- == 0) return;
    for (size_t axis = 0; axis < grid.size(); ++axis) {
        if (!is_short(axis)) continue;
        const int64_t used = std::max<int64_t>(1, grid[axis].constant());
        const uint32_t kept = std::bit_ceil(static_cast<uint32_t>(used));
        group[wide] *= group[axis] / kept;
        group[axis] = kept;
    }
}

/// Groups along each axis, x first.
std::vector<Size> groups_along(const Shape& grid, const std::vector<uint32_t>& group) {
    std::vector<Size> out;
    for (size_t axis = grid.size(); axis-- > 0;)
        out.push_back(floor_div(grid[axis] + Size(group[axis] - 1), Size(group[axis])));
    return out;
}

/// Makes groups smaller, but no smaller than a subgroup, until there are enough for every core; the
/// mappings of other kernels do the same (mapping/steps/group).
void spread_over_cores(const Shape& grid, std::vector<uint32_t>& group,
                       const DeviceProfile& profile) {
    const uint32_t lanes = profile.subgroup_size;
    uint32_t members = 1;
    for (uint32_t g : group) members *= g;
    const auto too_few = [&] {
        const Size groups = groups_of(grid, group);
        return groups.is_constant() && groups.constant() < rules_of(profile).groups_per_core;
    };
    // Lanes lie along the last axis, which is cut last.
    for (size_t axis = 0; axis < group.size(); ++axis) {
        const uint32_t least = axis + 1 < group.size() ? 1 : std::min(lanes, group[axis]);
        while (group[axis] % 2 == 0 && group[axis] / 2 >= least && members / 2 >= lanes &&
               too_few())
            group[axis] /= 2, members /= 2;
    }
}

/// The groups of a slice, one after the other; `number` gets that of the group in its slice.
GroupIndices launch_slice(KernelBuilder& b, const std::vector<Size>& groups, const OwnArrays& own,
                          const std::string& slice, NodeId& number) {
    b.code().groups = {Size(own.groups), Size(1), Size(1)};
    number = new_range(b, "g", RangeKind::Group, Size(own.groups), 0);
    const NodeId all = b.add(b.size(Size::symbol(slice) * Size(own.groups)), number);
    GroupIndices out;
    out.covered = false;
    split_group_number(b, groups, all, 0, out.index);
    return out;
}

/// The place of `at` in a block of `extents`, x first in both.
NodeId place_in_block(KernelBuilder& b, const std::vector<Size>& extents,
                      const std::vector<NodeId>& at) {
    NodeId place = at.back();
    for (size_t d = at.size() - 1; d-- > 0;) place = b.add(b.mul(place, b.size(extents[d])), at[d]);
    return place;
}

}  // namespace

std::vector<uint32_t> hand_group(const LoopAttr& attr, const DeviceProfile& profile) {
    std::vector<uint32_t> group = attr.group;
    if (attr.rounded) return group;
    lend_idle_places(attr.grid, group);
    int64_t members = 1;
    double invocations = 1;
    for (uint32_t g : group) members *= g;
    for (const Size& n : attr.grid) invocations *= n.is_constant() ? double(n.constant()) : 1;
    const int64_t wider = std::max<int64_t>(1, kWideGroup / members);
    if (invocations >= double(kWideGroup) * profile.parallel_invocations &&
        members * wider <= profile.max_group_size &&
        group.back() * wider <= profile.max_group_extent[0])
        group.back() *= static_cast<uint32_t>(wider);
    spread_over_cores(attr.grid, group, profile);
    return group;
}

Size groups_of(const Shape& grid, const std::vector<uint32_t>& group) {
    return element_count(groups_along(grid, group));
}

HandGrid hand_grid(KernelBuilder& b, const Shape& grid, const std::vector<uint32_t>& group,
                   int64_t lanes, const OwnArrays& own, const std::string& slice,
                   const DeviceProfile& profile) {
    KernelCode& code = b.code();
    const size_t rank = grid.size();
    const std::vector<Size> groups = groups_along(grid, group);
    NodeId number;  // of the group among those that run at once, where the grid runs in slices
    const GroupIndices launched = own.groups ? launch_slice(b, groups, own, slice, number)
                                             : launch_groups(b, groups, profile);
    const NodeId place = lanes ? deal_lanes(b, group, lanes) : NodeId();  // in the group
    HandGrid out{std::vector<NodeId>(rank), b.boolean_value(true), {}};
    std::vector<NodeId> locals(rank);  // x first, as the next
    std::vector<Size> widths(rank);
    for (size_t axis = 0; axis < rank; ++axis) {
        const size_t dim = rank - 1 - axis;
        const Size width(group[axis]);
        code.group_size[dim] = group[axis];
        const NodeId local = lanes ? local_of_place(b, group, place, axis)
                                   : new_range(b, "l", RangeKind::Invocation, width, dim);
        const NodeId self = b.add(b.mul(launched.index[dim], b.size(width)), local);
        out.self[axis] = self, locals[dim] = local, widths[dim] = width;
        if (groups[dim] * width == grid[axis] && (axis > 0 || launched.covered)) continue;
        const NodeId below = b.make(KernelOp::Less, boolean, {self, b.size(grid[axis])});
        out.inside = b.make(KernelOp::And, boolean, {out.inside, below});
        b.assume(self, Size(0), grid[axis] - Size(1));
    }
    if (own.arrays.empty()) return out;
    if (!own.groups) number = place_in_block(b, groups, launched.index);
    out.row = b.add(b.mul(number, b.integer(own.members)), place_in_block(b, widths, locals));
    return out;
}

}  // namespace firn
