// The indices of a kernel's grid, as workgroups and invocations have them.
#pragma once
#include <vector>

#include "compiler/lower/kernel_builder.h"
#include "compiler/lower/map.h"

namespace firn {

/// One of the copies of the body in the same invocation.
struct GridCopy {
    std::vector<int> index;  // per Grid range (x first): the index in this copy
    int guard = -1;          // condition under which it exists beyond the copy before; -1: always
};

struct MappedGrid {
    std::vector<int> ranges;       // the Grid ranges of the kernel that is mapped, x first
    std::vector<GridCopy> copies;  // neighbours along x next to each other
    int lane = -1;                 // where lanes share an index, or groups hold rows: the lane's number
    int along_x = -1;              // the invocation's number along x in its group; -1: it has no neighbours
    std::vector<int> turns;        // Serial ranges around the copies, innermost first
    int subgroup = -1;             // where groups hold rows: the subgroup's number
    int in_row = -1;               // the same: that the invocation's indices along x are inside; -1: always
};

/// Adds the Group, Invocation and Subgroup ranges of `mapping` to the kernel that `b` builds, and
/// sets its group_size, groups and schedule.
MappedGrid map_grid(const KernelCode& from, KernelBuilder& b, const Mapping& mapping,
                    const DeviceProfile& profile);

}  // namespace firn
