// Operands in shared memory: what the invocations of a group would read again and again in the
// iterations of a reduction they load together, some iterations at a time.
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
    /// Of the lowered kernel: a load, or what follows from loads of the same ranges alone.
    int node = -1;
    std::vector<size_t> axes;  // the Grid ranges that it depends on; 0 is x
    /// The ranges of short loops inside whose iterations it depends on too, innermost first; how
    /// many.
    std::vector<std::pair<int, int64_t>> inside;
    int along =
        -1;  // whose neighbours are neighbours in memory: one of `axes`, or -1, the iterations
};

struct StagedLoop {
    int outermost = -1;  // the loop around it (a For node) that stands in no other: itself, mostly
    std::vector<StagedValue> values;
};

/// The loops (For nodes of the lowered kernel) whose operands the groups of a mapping share,
/// whatever they compute: loops that all invocations take alike, with none or short ones inside,
/// most of whose loads miss a range along which a group has several invocations. Empty, too, for
/// kernels with other effects than stores, of rows, and where invocations share work.
std::map<int, StagedLoop> staged_loops(const KernelCode& lowered, const Mapping& mapping);

/// The step `stage` (steps.h).
std::string why_not_staged(const MappingCase& of);
/// The iterations that are best staged at a time, or 1. A CPU driver's shared memory is slower than
/// its caches.
int64_t choose_staged_iterations(const KernelCode& lowered, Mapping mapping,
                                 const DeviceProfile& profile);

}  // namespace firn
