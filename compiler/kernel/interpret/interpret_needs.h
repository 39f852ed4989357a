// Finds the lanes that use the value of a load of a group's memory, for the host interpreter.
#pragma once
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/kernel/interpret/interpret_lanes.h"
#include "compiler/kernel/kernel_code.h"

namespace firn {

struct InterpretRun;

/// A node that is used only where this one is not 0, or only where it is.
using LaneCondition = std::pair<NodeId, bool>;

/// The uses of a load. Place 0 is the load; the others stand for values computed from it.
struct LoadUses {
    struct Use {
        int place = -1;                         // of the user; -1: it has an effect
        std::vector<LaneCondition> conditions;  // all hold
    };
    /// A condition that differs from iteration to iteration of a loop behind the load.
    struct InLoop {
        NodeId node;    // the condition
        RangeId range;  // of the loop
        int trips = 0;
        std::vector<NodeId> early;  // the nodes that it needs in each iteration, operands first
    };
    bool always = false;                 // every lane may use it
    std::vector<std::vector<Use>> uses;  // by place
    std::vector<NodeId> early;           // the nodes of its conditions, operands first
    std::vector<InLoop> in_loops;
};

/// Finds and keeps the uses of the loads of a kernel. All invocations load what an `if_` with a
/// condition per invocation reads; if the condition does not hold, a select or a guarded store
/// drops the value, and then the load does not count as a read.
class LoadNeeds {
  public:
    /// Returns the uses of a pinned Load.
    const LoadUses& uses_of(const KernelCode& code, NodeId load);

  private:
    struct Use {
        RegionId at;  // the region that uses it
        NodeId user;  // the node that uses it; none: it has an effect
        LaneCondition condition{{}, true};
        bool next = false;  // in the next iteration of a loop
    };
    class Finder;
    void prepare(const KernelCode& code);
    void note_regions(const KernelCode& code);
    void note_uses(const KernelCode& code, NodeId id);
    void note_yields(const KernelCode& code, NodeId owner, RegionId region);

    ByNode<std::vector<Use>> uses_;
    ByNode<bool> always_;                  // every lane of its region may use it
    ByNode<RegionId> home_;                // the region that it stands in
    ByNode<int> position_;                 // its place in that
    ByRegion<RegionId> parent_;            // the region around it
    ByRegion<NodeId> owner_;               // its loop or branch
    ByNode<std::vector<RegionId>> loops_;  // the loops that it depends on
    ByNode<std::vector<NodeId>> results_;  // of a loop or branch: its Result nodes
    std::unordered_map<NodeId, LoadUses> found_;
};

/// Returns the lanes of `mask` that use the value of the pinned Load.
LaneMask lanes_that_use(InterpretRun& run, NodeId load, const LaneMask& mask);

}  // namespace firn
