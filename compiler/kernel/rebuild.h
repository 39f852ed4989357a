// Builds lowered kernels again, into one that may differ from them.
#pragma once
#include <unordered_map>
#include <vector>

#include "compiler/kernel/kernel_builder.h"

namespace firn {

/// Copies nodes of a lowered kernel, on demand, into the kernel that a builder builds, simplified
/// with the facts known there. Several kernels may be copied into one.
class Rebuild {
  public:
    Rebuild(const KernelCode& from, KernelBuilder& b);
    virtual ~Rebuild() = default;
    /// Adds the Grid ranges as they are.
    void copy_grid();
    /// Copies the whole kernel: its grid, and the effects of its root.
    void copy_kernel();
    /// The index of a range that is not copied is the node `made`.
    void bind_grid(RangeId range, NodeId made);
    /// Node `id` is the node `made`.
    void bind(NodeId id, NodeId made) { memo_[id] = made; }
    /// The copy of node `id`.
    NodeId value(NodeId id);
    /// Copies of a region's effects, in order.
    std::vector<NodeId> effects(RegionId region);

  protected:
    /// The loops (For nodes) that become one loop with `loop`, itself among them, always in the
    /// same order.
    virtual std::vector<NodeId> joined(NodeId loop) const { return {loop}; }
    /// Returns the nodes inside a loop, and inside its inner loops, if the loop is to be written
    /// out iteration by iteration; else null. Such a loop has a constant trip count and no effects.
    virtual const std::vector<NodeId>* written_out(NodeId /*loop*/) const { return nullptr; }
    /// Returns whether each iteration of such a loop is summed up by itself, from the neutral
    /// element on: all its carried values are sums.
    virtual bool sums_apart(NodeId /*loop*/) const { return false; }
    /// The position of the carried value that stands for the one at `position`: its own, or that
    /// of an earlier one which equals it in every iteration.
    virtual int carried_as(NodeId /*loop*/, int position) const { return position; }
    /// The loop, which has no effects, is built in another way, by rewrite(): its results.
    virtual bool is_rewritten(NodeId /*loop*/) const { return false; }
    virtual std::vector<NodeId> rewrite(NodeId /*loop*/) { return {}; }
    /// Returns the node that replaces a load. It is called while the loops around the load are
    /// built, so that their indices have nodes. None: the load is copied.
    virtual NodeId other_load(NodeId /*load*/) { return {}; }

    /// The copy of an effect of the root.
    NodeId effect(NodeId id);
    /// The copy of a buffer.
    int buffer(int index);
    /// Node `id` is built anew at its next use.
    void forget(NodeId id) { memo_[id] = {}; }
    /// Returns the node of a range's index; none if it is not used.
    NodeId index_of(RangeId range) const {
        const auto it = range_node_.find(range);
        return it == range_node_.end() ? NodeId() : it->second;
    }

  private:
    RegionId body_of(NodeId loop) const { return from_[loop].as<BodyAttr>().region; }
    NodeId build(const KernelNode& n, NodeId id);
    NodeId loop(NodeId id);
    std::vector<NodeId> iterations(NodeId loop, const std::vector<NodeId>& inside);
    NodeId branch(const KernelNode& n);

    const KernelCode& from_;
    KernelBuilder& b_;
    ByNode<NodeId> memo_;
    std::unordered_map<NodeId, std::vector<int>> results_;  // by For node: where its results stand
    std::unordered_map<RangeId, NodeId> range_node_;        // by range
    std::unordered_map<NodeId, std::vector<NodeId>>
        last_values_;  // of loops that are written out or rewritten
};

}  // namespace firn
