// One iteration of a loop, while its body is built.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "compiler/kernel/ids.h"

namespace firn {

struct MappingRun;

/// Binds the index and the carried values of a loop's body in a group of copies. Its end forgets
/// all that was built with them, so that the next iteration builds it anew.
class BoundIteration {
  public:
    /// `region`: of the lowered kernel; `carried`: by member of the group.
    BoundIteration(MappingRun& run, RegionId region, std::span<const size_t> group, NodeId index,
                   std::span<const std::vector<NodeId>> carried);
    ~BoundIteration();
    BoundIteration(const BoundIteration&) = delete;
    BoundIteration& operator=(const BoundIteration&) = delete;

  private:
    void bind(size_t copy, NodeId index, const std::vector<NodeId>& carried);
    void forget(size_t copy);

    MappingRun& run_;
    RegionId region_;
    std::vector<size_t> group_;
};

}  // namespace firn
