// The grid of a kernel by hand.
#include "compiler/lower/walk_by_hand_grid.h"

namespace firn {
namespace {

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
int deal_lanes(KernelBuilder& b, const LoopAttr& attr, int64_t lanes) {
    int64_t members = 1;
    for (uint32_t g : attr.group) members *= g;
    const int subgroup = new_range(b, "s", RangeKind::Subgroup, Size(members / lanes), 1);
    const int lane = new_range(b, "t", RangeKind::Subgroup, Size(lanes), 0);
    return b.add(b.mul(subgroup, b.integer(lanes)), lane);
}

int local_of_place(KernelBuilder& b, const LoopAttr& attr, int place, size_t axis) {
    int64_t stride = 1;
    for (size_t k = axis + 1; k < attr.group.size(); ++k) stride *= attr.group[k];
    const int rows = b.make(KernelOp::Div, i32, {place, b.integer(stride)});
    return b.make(KernelOp::Mod, i32, {rows, b.integer(attr.group[axis])});
}

}  // namespace

std::vector<int> hand_grid(KernelBuilder& b, const LoopAttr& attr, int64_t lanes) {
    KernelCode& code = b.code();
    const size_t rank = attr.grid.size();
    const int place = lanes ? deal_lanes(b, attr, lanes) : -1;  // in the group
    std::vector<int> at(rank);
    for (size_t axis = 0; axis < rank; ++axis) {
        const size_t dim = rank - 1 - axis;
        const int64_t width = attr.group[axis];
        code.group_size[dim] = attr.group[axis];
        code.groups[dim] = floor_div(attr.grid[axis] + Size(width - 1), Size(width));
        const int group = new_range(b, "g", RangeKind::Group, code.groups[dim], dim);
        const int local = lanes ? local_of_place(b, attr, place, axis)
                                : new_range(b, "l", RangeKind::Invocation, Size(width), dim);
        at[axis] = b.add(b.mul(group, b.integer(width)), local);
    }
    return at;
}

int inside_grid(KernelBuilder& b, const LoopAttr& attr, const std::vector<int>& self) {
    int inside = b.boolean_value(true);
    for (size_t axis = 0; axis < self.size(); ++axis) {
        const Size& n = attr.grid[axis];
        const Size width(attr.group[axis]);
        if (b.code().groups[self.size() - 1 - axis] * width == n) continue;
        const int below = b.make(KernelOp::Less, boolean, {self[axis], b.size(n)});
        inside = b.make(KernelOp::And, boolean, {inside, below});
        b.assume(self[axis], Size(0), n - Size(1));
    }
    return inside;
}

}  // namespace firn
