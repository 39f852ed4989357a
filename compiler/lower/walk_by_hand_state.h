// The demand walk of a kernel by hand: the state that walk_by_hand.cpp (order, loops and branches)
// and walk_by_hand_memory.cpp (reads and stores) share.
#pragma once
#include <map>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/by_hand.h"
#include "compiler/ir/regions.h"
#include "compiler/lower/own_arrays.h"
#include "compiler/lower/walk_state.h"

namespace firn {

/// Lowers the steps of a kernel by hand, and evaluates their operands.
class HandWalk : public Walk {
  public:
    HandWalk(const KernelRequest& request, const LowerContext& context,
             const DeviceProfile& profile, KernelCode& code);
    /// See firn::needs_order.
    bool needs_order() const;
    /// Lowers it as a kernel that computes values; a mapping makes the groups and invocations.
    void lower();
    /// Lowers it with groups, and effects in the order in which they were recorded.
    void lower_in_order();
    /// Return how often the kernel runs, and the buffers of its private arrays.
    Size slices() const { return own_.slices(); }
    const std::vector<KernelBuffer>& own_buffers() const { return own_buffers_; }

  private:
    /// Returns the arguments whose versions at entry lie in other buffers than the versions after
    /// the kernel.
    std::unordered_set<const Node*> kept_apart(const LowerContext& context) const;
    /// The invocation's own index into a value of a shape that broadcasts to the grid.
    Indices own_at(const Shape& shape);
    void note_fetched();
    void effect(NodeId node);
    /// Everything that stands in a region and has its place there, in an order that keeps versions
    /// apart.
    void run_level(int level);
    void run_step(const Node& node);
    void give(const Node& node, NodeId value);

    /// The kernel's buffer of an array or of a tensor that is stored to.
    int memory_of(const Node& array);
    /// The dimensions of an array behind those of the grid, or of its groups.
    Shape shape_of(const Node& array) const { return own_shape(array, attr_.grid.size()); }
    /// Returns whether the array is the invocation's own and lies in a buffer of the program.
    bool in_memory(const Node& array) const { return own_.arrays.contains(&array); }
    int own_buffer(const Node& array, DType stored);
    /// Returns the index in its buffer of an element of such an array.
    NodeId place_in_row(const Node& array, NodeId index);
    void clear_row(const Node& array);

    struct Place {
        NodeId index, inside;
    };
    Place place_of(const Node& array, std::span<const Ref> indices,
                   const std::vector<Bounds>* modes, const Node& user);
    static bool may_be_masked(const Node& index);
    /// Returns the condition that the first index of a store is not -1.
    NodeId mask_of(const Node& index, const Node& user);
    void start_array(const Node& node);
    void read(const Node& node);
    void store(const Node& node);
    void exchange(const Node& node);

    void run_loop(const Node& loop);
    void run_branch(const Node& branch);
    NodeId evaluate(const Node& node, const Indices& at) override;
    NodeId load_element(const Node& node, NodeId index) override;

    const Node& kernel_;
    const LoopAttr& attr_;
    const DeviceProfile& profile_;
    Placement placement_;
    HandArrays arrays_;
    Indices self_;  // the invocation's own index
    OwnArrays own_;
    NodeId row_;  // of the invocation, in the buffers of such arrays
    std::vector<KernelBuffer> own_buffers_;
    RegionId region_ = kRoot;  // that is being filled
    std::unordered_map<const Node*, int> memory_;
    std::unordered_map<const Node*, const Node*> fetched_;   // Scatter -> Fetched
    std::map<std::pair<const Node*, int>, NodeId> results_;  // of loops and branches that are steps
};

}  // namespace firn
