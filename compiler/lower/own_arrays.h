// Arrays of an invocation's own that lie in memory.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "compiler/ir/by_hand.h"
#include "compiler/kernel/kernel_builder.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// The arrays of a kernel by hand that lie in buffers of the program, and their layout. Each
/// invocation that runs at the same time has a row of its own in the buffer of an array; `groups`
/// of them run at the same time, slice by slice of the grid. So memory is bounded for every grid.
struct OwnArrays {
    std::unordered_set<const Node*> arrays;
    Size total;           // groups of the grid
    int64_t members = 0;  // invocations of a group
    int64_t groups = 0;   // 0: all of the grid at once
    int64_t lanes = 1;    // invocations whose rows are interleaved: neighbours access neighbours

    /// Invocations that have rows.
    Size rows() const;
    /// Returns how often the kernel runs.
    Size slices() const;
};

/// The largest ones, where all together have more elements than the device's compiler bears
/// (ClassRules::most_own). `total`: groups of the grid, of `group` invocations each. UserError
/// where one group's rows are more than can be counted.
OwnArrays choose_own_arrays(const Placement& placement, size_t rank, const Size& total,
                            const std::vector<uint32_t>& group, const DeviceProfile& profile,
                            const SymbolFacts& facts);

/// Returns the shape of an array of a kernel without the kernel's `rank` grid dimensions.
Shape own_shape(const Node& array, size_t rank);

/// Returns the begin of the row of invocation `row` in a buffer of rows of `elements` each; the
/// next element of the row is `lanes` further.
NodeId begin_of_row(KernelBuilder& b, const OwnArrays& own, NodeId row, int64_t elements);

}  // namespace firn
