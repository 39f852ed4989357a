// Shuffles loads that all lanes of a subgroup read: each lane loads one element, and shuffles give
// it to the others.
#pragma once
#include <optional>
#include <vector>

#include "compiler/kernel/kernel_builder.h"
#include "compiler/mapping/mapping.h"

namespace firn {

struct MappingRun;

/// Finds, while a mapped kernel is built, the nodes that are the same for all lanes of a subgroup:
/// they depend on no Invocation along x, no Subgroup lane and no carried value.
class SameInSubgroup {
  public:
    explicit SameInSubgroup(const KernelBuilder& b) : b_(b) {}
    bool operator()(NodeId id);
    /// Notes whether a carried value is the same for all lanes.
    void mark(NodeId id, bool same);

  private:
    const KernelBuilder& b_;
    ByNode<std::optional<bool>> known_;  // nothing: not computed yet
};

/// Deals a load to the lanes: its element, at the new node `index`, is read by all lanes of a
/// subgroup, and is one of as many in a row as there are lanes. Each lane loads one element, and
/// shuffles give it to the others. undo_underused_shuffles() undoes this where few of the elements
/// are used. `copy`: of the kernel's body. Returns none if the load is none of these.
NodeId deal_load(MappingRun& run, const KernelNode& load, NodeId index, size_t copy);

/// Undoes shuffles with few uses: a load whose shuffles use fewer than half of `lanes` elements
/// becomes plain loads.
void undo_underused_shuffles(KernelCode& code, uint32_t lanes);

}  // namespace firn
