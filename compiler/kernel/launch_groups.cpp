// Groups along axes, folded where a device launches fewer along one.
#include "compiler/kernel/launch_groups.h"

#include <algorithm>
#include <array>

namespace firn {
namespace {

constexpr int64_t kFoldedGroups = 32768;  // groups along x before they fold into the next dimension

NodeId new_range(KernelBuilder& b, const Size& extent, int dim) {
    Range range;
    range.name = "g";
    range.kind = RangeKind::Group;
    range.extent = extent;
    range.dim = dim;
    return b.range(b.add_range(range));
}

}  // namespace

void split_group_number(KernelBuilder& b, const std::vector<Size>& groups, NodeId number,
                        size_t first, std::vector<NodeId>& out) {
    for (size_t d = first; d + 1 < groups.size(); ++d) {
        const NodeId count = b.size(groups[d]);
        out.push_back(b.make(KernelOp::Mod, i32, {number, count}));
        number = b.make(KernelOp::Div, i32, {number, count});
    }
    out.push_back(number);
}

GroupIndices launch_groups(KernelBuilder& b, const std::vector<Size>& groups,
                           const DeviceProfile& profile) {
    std::array<Size, 3> launched{Size(1), Size(1), Size(1)};
    for (size_t d = 0; d < groups.size(); ++d)
        launched[std::min<size_t>(d, 2)] = launched[std::min<size_t>(d, 2)] * groups[d];
    bool fits = true;
    for (size_t dim = 0; dim < 3; ++dim)
        fits =
            fits && launched[dim].upper_bound(b.symbol_facts().largest) <= profile.max_groups[dim];
    KernelCode& to = b.code();
    GroupIndices out;
    if (fits) {
        to.groups = launched;
        for (int dim = 0; dim < static_cast<int>(std::min<size_t>(groups.size(), 2)); ++dim)
            out.index.push_back(new_range(b, launched[static_cast<size_t>(dim)], dim));
        if (groups.size() < 3) return out;
        split_group_number(b, groups, new_range(b, launched[2], 2), 2, out.index);
        return out;
    }
    const int64_t folded = std::min<int64_t>(kFoldedGroups, profile.max_groups[0]);
    const Size all = launched[0] * launched[1] * launched[2];
    to.groups = {min(all, Size(folded)), ceil_div(all, Size(folded)), Size(1)};
    const NodeId low = new_range(b, to.groups[0], 0);
    const NodeId high = new_range(b, to.groups[1], 1);
    split_group_number(b, groups, b.add(b.mul(high, b.integer(folded)), low), 0, out.index);
    out.covered = false;  // the last row may be longer than the remainder
    return out;
}

}  // namespace firn
