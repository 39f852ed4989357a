// What the choices of a kernel need for one of their sides alone.
#pragma once
#include <map>
#include <vector>

#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// The Selects of a placed kernel, what asks for its values, and what these cost in operations.
class Choices {
  public:
    Choices(const KernelCode& code, const DeviceProfile& profile);

    /// Selects that a region evaluates itself, by their conditions; none needs another of its
    /// group.
    std::map<int, std::vector<int>> by_condition(const KernelRegion& region) const;
    /// Of all nodes, those of their region that need any of `wanted`, which are among them.
    std::vector<bool> that_need(const std::vector<int>& wanted) const;
    /// Whether `id` needs any of `wanted`, which stand in its region.
    bool reaches_any(int id, const std::vector<int>& wanted) const;
    /// What the region evaluates for operand `side` (1 or 2) of the selects alone, the last first.
    std::vector<int> needed_for(const KernelRegion& region, const std::vector<int>& selects,
                                size_t side) const;
    double cost(int id) const;
    double region_cost(int region) const;

  private:
    void note_uses(int region);

    const KernelCode& code_;
    bool masked_;
    double load_;             // operations that take as long as a load
    std::vector<int> home_;   // region that evaluates a node
    std::vector<int> owner_;  // For or Branch of a region
    std::vector<std::vector<int>>
        users_;                  // in the same region, loops and branches for what they hold
    std::vector<bool> outside_;  // used by more than nodes of its region
};

}  // namespace firn
