// Finds operands to stage in shared memory: operands that the invocations of a group would read
// again and again in the iterations of a reduction are loaded together, some iterations at a time.
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "compiler/mapping/mapping.h"

namespace firn {

/// A value in a loop's body that invocations share: it is the same for all that differ along other
/// ranges only.
struct StagedValue {
    /// A node of the lowered kernel: a load, or a value computed only from loads of the same
    /// ranges.
    NodeId node;
    std::vector<size_t> axes;  // the Grid ranges that it depends on; 0 is x
    /// The ranges of short inner loops on whose iterations it depends too, innermost first, with
    /// their trip counts.
    std::vector<std::pair<RangeId, int64_t>> inside;
    int along = -1;  // the axis whose neighbours are neighbours in memory: one of `axes`, or -1,
                     // the iterations
};

struct StagedLoop {
    NodeId outermost;  // the loop around it (a For node) that stands in no other: itself, mostly
    std::vector<StagedValue> values;
};

/// Returns the loops (For nodes of the lowered kernel) whose operands the groups of a mapping
/// share, for loops of any computation: loops that all invocations take alike, with no inner loops
/// or short ones, most of whose loads do not depend on some range along which a group has several
/// invocations. Empty for kernels with other effects than stores, for kernels of rows, and if
/// invocations share work.
std::map<NodeId, StagedLoop> staged_loops(const KernelCode& lowered, const Mapping& mapping);

/// The step `stage` (steps.h).
std::string why_not_staged(const MappingCase& of);
/// The iterations that are best staged at a time, or 1. A CPU driver's shared memory is slower than
/// its caches.
int64_t choose_staged_iterations(const KernelCode& lowered, Mapping mapping,
                                 const DeviceProfile& profile);

}  // namespace firn
