// The state of one run of map_ranges(), over which the functions that build its kernel work.
#pragma once
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/base/fresh_stack.h"
#include "compiler/kernel/kernel_builder.h"
#include "compiler/mapping/walk/accumulators.h"
#include "compiler/mapping/walk/loops_of_lanes.h"
#include "compiler/mapping/walk/map_grid.h"
#include "compiler/mapping/walk/shuffle_loads.h"
#include "compiler/mapping/walk/stage_loads.h"

namespace firn {

class StagedTile;

/// Gives a place another value for the length of a scope.
template <class T>
class Scoped {
  public:
    Scoped(T& place, T value) : place_(place), before_(std::exchange(place, std::move(value))) {}
    ~Scoped() {
        if (open_) place_ = std::move(before_);
    }
    Scoped(const Scoped&) = delete;
    Scoped& operator=(const Scoped&) = delete;
    /// Ends the scope here: restores the place's old value, and returns the value that it held.
    T end() {
        open_ = false;
        return std::exchange(place_, std::move(before_));
    }

  private:
    T& place_;
    T before_;
    bool open_ = true;
};

/// Says which lanes and copies execute the code that is built now, and how often they do.
struct Surroundings {
    bool together = true;    // all lanes of a subgroup
    bool all_copies = true;  // and all copies: what is built for one serves all
    bool in_branch = false;  // each copy branches for itself: no loop serves several
    int64_t unrolled = 1;    // iterations of the loop around it that one new iteration takes

    /// The surroundings of code that runs for one copy, for which lanes may branch.
    Surroundings apart() const { return {false, false, in_branch, 1}; }
    Surroundings in_loop(bool same_trips, bool for_all_copies, int64_t unrolled_copies) const {
        return {together && same_trips, all_copies && for_all_copies, in_branch, unrolled_copies};
    }
};

/// The shared arrays of the loop that is built now, where its operands are staged.
struct OpenTile {
    StagedTile* arrays = nullptr;  // null: none
    RegionId region;               // of the lowered kernel: the loop's body
    NodeId start;                  // the first iteration whose operands are in the arrays
    NodeId iteration;              // the iteration that is built now, counted from `start`
};

/// "Copies" are those of the kernel's body in one invocation (GridCopy), each a value of every node
/// that varies.
struct MappingRun {
    MappingRun(const KernelCode& from, KernelCode& to, const Mapping& mapping,
               const DeviceProfile& profile, const SymbolFacts& facts);
    MappingRun(const MappingRun&) = delete;
    MappingRun& operator=(const MappingRun&) = delete;

    // The kernel that is mapped, and the mapping.
    const KernelCode& from;
    const Mapping& mapping;
    const DeviceProfile& profile;
    const SymbolFacts& facts;

    // Facts that are known before a node is built; `varies` once the grid is mapped.
    ByNode<std::vector<RegionId>> needs;  // regions whose indices or carried values a node uses
    ByRegion<double> operations;          // of one iteration, by region
    std::map<NodeId, StagedLoop> staged;  // loops whose operands are staged by groups
    std::map<NodeId, SharedLoop> shared;  // loops that the lanes of a subgroup share
    ByNode<bool> varies;                  // nodes that differ between copies

    // The kernel that is built.
    KernelBuilder b;
    MappedGrid grid;
    std::vector<GridCopy> copies;
    NodeId lane;                               // where lanes share work or loads: the lane's number
    std::optional<Accumulators> accumulators;  // of combining stores
    SameInSubgroup same_in_subgroup{b};
    std::vector<ByNode<NodeId>> memo;  // by copy and old node: the new one, or none yet
    std::map<std::pair<NodeId, size_t>, std::vector<NodeId>> results;  // by loop and copy, likewise

    // The state of building.
    Surroundings around;
    std::vector<RegionId> of_one_copy;  // regions around of loops that one copy runs by itself
    OpenTile tile;
    std::vector<NodeId> effects;  // of the region that is built now: staging and its reads
    Recursion recursion;          // nodes that wait for their operands
};

}  // namespace firn
