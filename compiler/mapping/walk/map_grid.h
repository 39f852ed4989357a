// The indices of a kernel's grid, as workgroups and invocations have them.
#pragma once
#include <vector>

#include "compiler/kernel/kernel_builder.h"
#include "compiler/mapping/mapping.h"

namespace firn {

/// A copy of the body in the same invocation.
struct GridCopy {
    std::vector<NodeId> index;  // per Grid range (x first): the index in this copy
    NodeId guard;   // condition under which it exists beyond the copy before; none: always
    NodeId inside;  // condition under which it alone stores; none: always
};

/// The indices of a Grid range that one workgroup has: its invocations stand side by side, each
/// with a tile.
struct GroupSpan {
    NodeId begin;         // the group's first index
    NodeId local;         // the invocation's place in the group
    int64_t members = 1;  // invocations side by side
    int64_t tile = 1;     // indices of each
    bool covered = true;  // no group reaches behind the range's end
    int64_t extent() const { return members * tile; }
};

struct MappedGrid {
    std::vector<RangeId> ranges;   // the Grid ranges of the kernel that is mapped, x first
    std::vector<GridCopy> copies;  // neighbours along x next to each other
    std::vector<GroupSpan> spans;  // per Grid range, where groups load together
    NodeId lane;  // where lanes share an index, or groups hold rows: the lane's number
    std::vector<RangeId> walked;  // Serial ranges over the blocks of a group, innermost first
    NodeId subgroup;              // where groups hold rows: the subgroup's number
    NodeId in_row;  // the same: that the invocation's indices along x are inside; none: always
    bool padded = false;  // copies may lie behind the end: their loads have to be clamped
};

/// The extents of the grid, x first.
std::vector<Size> grid_extents(const KernelCode& code);
/// Returns whether it is a Load or Store at the index of the grid, or at a constant one.
bool is_at_own_index(const KernelCode& code, const KernelNode& access);
/// Returns whether the kernel only stores, at most under conditions, and loads none of the buffers
/// that it stores to.
bool stores_apart(const KernelCode& ready);
/// Returns whether the last tile of four of a kernel with one Grid range may reach behind the
/// range's end: the kernel only loads and stores, at the grid's index, elements of at most four
/// bytes, and memory is allocated in blocks of 16 bytes.
bool may_pass_the_end(const KernelCode& ready);

/// Returns whether a kernel of one range only stores each element at its own index, so that the
/// copies of a block may store anything behind the end.
bool stores_pass_the_end(const KernelCode& ready);

/// Returns whether some tile does not divide its range and may_pass_the_end() is false for the
/// kernel: copies behind the end then load the nearest element inside, and store nothing.
bool pads_tiles(const KernelCode& ready, const Mapping& mapping);

/// Returns why the grid cannot have a number for each range: it has fewer ranges. Empty: it can.
std::string why_not_of_grid(const MappingCase& of, const std::vector<int64_t>& numbers);

/// Adds the Group, Invocation and Subgroup ranges of `mapping` to the kernel that `b` builds, and
/// sets its group_size, groups and schedule.
MappedGrid map_grid(const KernelCode& from, KernelBuilder& b, const Mapping& mapping,
                    const DeviceProfile& profile);

/// Returns a new index: that of the invocation in its subgroup.
NodeId subgroup_lane(KernelBuilder& b, const DeviceProfile& profile);
/// Returns a new index: that of the invocation in its group, which is a row. The grid's own index
/// is assumed to lie inside of the grid, which does not hold for all invocations.
NodeId invocation_of_group(KernelBuilder& b, const Mapping& mapping);

}  // namespace firn
