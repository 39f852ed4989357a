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
using LaneCondition = std::pair<int, bool>;

/// The uses of a load. Place 0 is the load; the others stand for values computed from it.
struct LoadUses {
    struct Use {
        int place = -1;                         // of the user; -1: it has an effect
        std::vector<LaneCondition> conditions;  // all hold
    };
    /// A condition that differs from iteration to iteration of a loop behind the load.
    struct InLoop {
        int node = -1, range = -1;  // the condition, and the index of the loop
        int trips = 0;
        std::vector<int> early;  // the nodes that it needs in each iteration, operands first
    };
    bool always = false;                 // every lane may use it
    std::vector<std::vector<Use>> uses;  // by place
    std::vector<int> early;              // the nodes of its conditions, operands first
    std::vector<InLoop> in_loops;
};

/// Finds and keeps the uses of the loads of a kernel. All invocations load what an `if_` with a
/// condition per invocation reads; if the condition does not hold, a select or a guarded store
/// drops the value, and then the load does not count as a read.
class LoadNeeds {
  public:
    /// Returns the uses of a pinned Load.
    const LoadUses& uses_of(const KernelCode& code, int load);

  private:
    struct Use {
        int at = 0;     // the region that uses it
        int user = -1;  // the node that uses it; -1: it has an effect
        LaneCondition condition{-1, true};
        bool next = false;  // in the next iteration of a loop
    };
    class Finder;
    void prepare(const KernelCode& code);
    void note_regions(const KernelCode& code);
    void note_uses(const KernelCode& code, int id);
    void note_yields(const KernelCode& code, int owner, int region);

    std::vector<std::vector<Use>> uses_;     // by node
    std::vector<bool> always_;               // by node: every lane of its region may use it
    std::vector<int> home_, position_;       // by node: its region, its place in that
    std::vector<int> parent_, owner_;        // by region: the one around it, its loop or branch
    std::vector<std::vector<int>> loops_;    // by node: those that it depends on
    std::vector<std::vector<int>> results_;  // by loop or branch: its Result nodes
    std::unordered_map<int, LoadUses> found_;
};

/// Returns the lanes of `mask` that use the value of the pinned Load.
LaneMask lanes_that_use(InterpretRun& run, int load, const LaneMask& mask);

}  // namespace firn
