// Finds the nodes that only one side of a kernel's choices needs.
#pragma once
#include <map>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// The Selects of a placed kernel, the uses of its values, and their costs in operations.
class Choices {
  public:
    Choices(const KernelCode& code, const DeviceProfile& profile);

    /// Selects that a region evaluates itself, by their conditions; none needs another of its
    /// group.
    std::map<NodeId, std::vector<NodeId>> by_condition(const KernelRegion& region) const;
    /// Marks, by node, those that need any of `wanted` and stand in its region; `wanted` themselves
    /// are among them.
    ByNode<bool> that_need(const std::vector<NodeId>& wanted) const;
    /// Returns whether `id` needs any of `wanted`, which stand in its region.
    bool reaches_any(NodeId id, const std::vector<NodeId>& wanted) const;
    /// Returns the nodes that the region evaluates only for operand `side` (1 or 2) of the selects,
    /// the last first.
    std::vector<NodeId> needed_for(const KernelRegion& region, const std::vector<NodeId>& selects,
                                   size_t side) const;
    double cost(NodeId id) const;
    double region_cost(RegionId region) const;

  private:
    void note_uses(RegionId region);

    const KernelCode& code_;
    bool masked_;
    double load_;             // operations that take as long as a load
    ByNode<RegionId> home_;   // region that evaluates a node
    ByRegion<NodeId> owner_;  // the For or Branch node of a region
    ByNode<std::vector<NodeId>>
        users_;  // in the same region; loops and branches stand for the nodes inside them
    ByNode<bool> outside_;  // used by more than nodes of its region
};

}  // namespace firn
