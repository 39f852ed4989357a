// The grid of a kernel by hand.
#include "compiler/lower/walk_by_hand_grid.h"

#include <algorithm>

namespace firn {
namespace {

/// Invocations of a group that its user leaves open. A group costs about as much as twelve
/// subgroups on CPU drivers (limits.md), so that of 32 subgroups it is a quarter, of 8 the larger
/// part. As many groups as there are invocations that run at once keep every core busy to the end.
constexpr int64_t kWideGroup = 256;

int new_range(KernelBuilder& b, const char* name, RangeKind kind, const Size& extent, size_t dim) {
    Range range;
    range.name = name;
    range.kind = kind;
    range.extent = extent;
    range.dim = static_cast<int>(dim);
    return b.range(b.add_range(range));
}

/// Subgroups are made of neighbours by their own numbers, not by those of invocations, which
/// nobody promises.
int deal_lanes(KernelBuilder& b, const std::vector<uint32_t>& group, int64_t lanes) {
    int64_t members = 1;
    for (uint32_t g : group) members *= g;
    const int subgroup = new_range(b, "s", RangeKind::Subgroup, Size(members / lanes), 1);
    const int lane = new_range(b, "t", RangeKind::Subgroup, Size(lanes), 0);
    return b.add(b.mul(subgroup, b.integer(lanes)), lane);
}

int local_of_place(KernelBuilder& b, const std::vector<uint32_t>& group, int place, size_t axis) {
    int64_t stride = 1;
    for (size_t k = axis + 1; k < group.size(); ++k) stride *= group[k];
    const int rows = b.make(KernelOp::Div, i32, {place, b.integer(stride)});
    return b.make(KernelOp::Mod, i32, {rows, b.integer(group[axis])});
}

}  // namespace

std::vector<uint32_t> hand_group(const LoopAttr& attr, const DeviceProfile& profile) {
    std::vector<uint32_t> group = attr.group;
    if (attr.rounded) return group;
    int64_t members = 1;
    double invocations = 1;
    for (uint32_t g : group) members *= g;
    for (const Size& n : attr.grid) invocations *= n.is_constant() ? double(n.constant()) : 1;
    const int64_t wider = std::max<int64_t>(1, kWideGroup / members);
    if (invocations >= double(kWideGroup) * profile.parallel_invocations &&
        members * wider <= profile.max_group_size &&
        group.back() * wider <= profile.max_group_extent[0])
        group.back() *= static_cast<uint32_t>(wider);
    return group;
}

std::vector<int> hand_grid(KernelBuilder& b, const Shape& grid, const std::vector<uint32_t>& group,
                           int64_t lanes) {
    KernelCode& code = b.code();
    const size_t rank = grid.size();
    const int place = lanes ? deal_lanes(b, group, lanes) : -1;  // in the group
    std::vector<int> at(rank);
    for (size_t axis = 0; axis < rank; ++axis) {
        const size_t dim = rank - 1 - axis;
        const int64_t width = group[axis];
        code.group_size[dim] = group[axis];
        code.groups[dim] = floor_div(grid[axis] + Size(width - 1), Size(width));
        const int number = new_range(b, "g", RangeKind::Group, code.groups[dim], dim);
        const int local = lanes ? local_of_place(b, group, place, axis)
                                : new_range(b, "l", RangeKind::Invocation, Size(width), dim);
        at[axis] = b.add(b.mul(number, b.integer(width)), local);
    }
    return at;
}

int inside_grid(KernelBuilder& b, const Shape& grid, const std::vector<uint32_t>& group,
                const std::vector<int>& self) {
    int inside = b.boolean_value(true);
    for (size_t axis = 0; axis < self.size(); ++axis) {
        const Size& n = grid[axis];
        const Size width(group[axis]);
        if (b.code().groups[self.size() - 1 - axis] * width == n) continue;
        const int below = b.make(KernelOp::Less, boolean, {self[axis], b.size(n)});
        inside = b.make(KernelOp::And, boolean, {inside, below});
        b.assume(self[axis], Size(0), n - Size(1));
    }
    return inside;
}

}  // namespace firn
