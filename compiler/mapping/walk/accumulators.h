// Privatises small reduction targets: stores that collide are combined in a copy of the target for
// each invocation or group, and each copy is combined into the target once.
#pragma once
#include <optional>
#include <vector>

#include "compiler/kernel/kernel_builder.h"
#include "compiler/mapping/mapping.h"

namespace firn {

struct MappingRun;

/// A buffer that a kernel only combines into, always by the same operation.
struct AccumulatedTarget {
    int buffer = -1;  // of the lowered kernel
    ScatterOp combine = ScatterOp::Add;
    ReduceOp reduce = ReduceOp::Sum;  // the same, over lanes
    DType dtype;                      // of the values that are combined
    int64_t elements = 0;
    std::vector<SourceLine> lines;
};

/// Returns the targets of a lowered kernel that may have copies: their size is known, the kernel
/// never reads them nor stores to them in another way, and lanes can exchange their type.
/// choose_mapping decides which copies are worth it and fit.
std::vector<AccumulatedTarget> accumulated_targets(const KernelCode& lowered);

/// The step `accumulate` (steps.h).
std::string why_no_accumulators(const MappingCase& of);

/// The copies in a kernel that is being mapped; their effects run in the order in which they are
/// made.
class Accumulators {
  public:
    /// `space`: Private, a copy for each invocation, or Shared, one for each group.
    Accumulators(KernelBuilder& b, const KernelCode& lowered, MemorySpace space);

    const std::vector<AccumulatedTarget>& targets() const { return targets_; }
    /// The copy of a buffer of the lowered kernel; -1: it has none.
    int copy_of(int target) const;
    /// Returns a place in that copy for values that are dropped, because storing there is cheaper
    /// than branching around the store, or none.
    NodeId spare_place(int target) const;
    /// Returns effects that set the copies to the neutral element.
    std::vector<NodeId> open();
    /// Effects that combine them into the `bound` buffers, one for each target; all invocations
    /// take part. `lane`: the invocation's number in its subgroup (Private), or among the `members`
    /// of its group (Shared).
    std::vector<NodeId> close(const std::vector<int>& bound, NodeId lane, int64_t members);

  private:
    void close_private(size_t k, int bound, NodeId lane, std::vector<NodeId>& effects);
    void close_shared(size_t k, int bound, NodeId lane, int64_t members,
                      std::vector<NodeId>& effects);
    NodeId changes(const AccumulatedTarget& t, NodeId came);

    KernelBuilder& b_;
    std::vector<AccumulatedTarget> targets_;
    MemorySpace space_;
    std::vector<int> copies_;  // by target
};

/// Makes the run's copies: effects that stand before all that combine into them.
std::vector<NodeId> open_accumulators(MappingRun& run);
/// All effects of the run's kernel: those that made the copies, `stores`, and those that combine
/// the copies into their targets.
std::vector<NodeId> close_accumulators(MappingRun& run, std::vector<NodeId> opened,
                                       const std::vector<NodeId>& stores);
/// Builds a combining store of a guarded branch without the branch: outside the target it goes to
/// the spare place of a copy. `copy`: of the kernel's body. Returns none if that cannot be.
NodeId accumulate_or_drop(MappingRun& run, const KernelNode& branch, NodeId condition, size_t copy);

}  // namespace firn
