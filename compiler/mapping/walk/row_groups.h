// Kernels whose workgroups hold whole rows: the mappings that they can have, and the exchange
// between their invocations.
#pragma once
#include <vector>

#include "compiler/kernel/kernel_builder.h"
#include "compiler/mapping/mapping.h"

namespace firn {

struct MappingRun;

/// Its invocations combine values along the last Grid range (RowReduce).
bool reduces_rows(const KernelCode& lowered);

/// Returns why a group of the mapping does not hold whole rows although the kernel needs that;
/// empty: all is well (steps.h).
std::string why_no_rows(const MappingCase& of);

/// Makes the mapping hold whole rows where the kernel needs them: one group along x, of whole
/// subgroups, and none along y.
void hold_rows(Mapping& mapping, const KernelCode& lowered, const DeviceProfile& profile,
               const SymbolFacts& facts);

/// A group and its subgroups, as a mapped kernel that holds rows has them.
struct RowGroup {
    NodeId lane, subgroup;  // the lane's number, the subgroup's number
    int64_t lanes = 1, subgroups = 1;
};

/// Combines values[k] of all invocations of the group; each has the results. Effects of the root,
/// in order, are added to `effects`: the kernel must be in_order where there are any.
std::vector<NodeId> combine_over_group(KernelBuilder& b, const RowGroup& group, ReduceOp op,
                                       std::vector<NodeId> values, std::vector<NodeId>& effects);

/// Reduces the rows of the kernel that is mapped. Every invocation of a group takes part: it
/// reduces its own copies' elements, then the group combines the partial results, which become
/// those of the kernel's RowReduce nodes. Gives effects of the root, in order.
std::vector<NodeId> reduce_rows(MappingRun& run);

}  // namespace firn
