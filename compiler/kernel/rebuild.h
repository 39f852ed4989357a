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
    void bind_grid(int range, int made);
    /// Node `id` is the node `made`.
    void bind(int id, int made) { memo_[id] = made; }
    /// The copy of node `id`.
    int value(int id);
    /// Copies of a region's effects, in order.
    std::vector<int> effects(int region);

  protected:
    /// The loops (For nodes) that become one loop with `loop`, itself among them, always in the
    /// same order.
    virtual std::vector<int> joined(int loop) const { return {loop}; }
    /// Returns the nodes inside a loop, and inside its inner loops, if the loop is to be written
    /// out iteration by iteration; else null. Such a loop has a constant trip count and no effects.
    virtual const std::vector<int>* written_out(int /*loop*/) const { return nullptr; }
    /// Returns whether each iteration of such a loop is summed up by itself, from the neutral
    /// element on: all its carried values are sums.
    virtual bool sums_apart(int /*loop*/) const { return false; }
    /// The position of the carried value that stands for the one at `position`: its own, or that
    /// of an earlier one which equals it in every iteration.
    virtual int carried_as(int /*loop*/, int position) const { return position; }
    /// The loop, which has no effects, is built in another way, by rewrite(): its results.
    virtual bool is_rewritten(int /*loop*/) const { return false; }
    virtual std::vector<int> rewrite(int /*loop*/) { return {}; }

    /// The copy of an effect of the root.
    int effect(int id);
    /// The copy of a buffer.
    int buffer(int index);
    /// Node `id` is built anew at its next use.
    void forget(int id) { memo_[id] = -1; }
    /// Returns the node of a range's index; -1 if it is not used.
    int index_of(int range) const {
        const auto it = range_node_.find(range);
        return it == range_node_.end() ? -1 : it->second;
    }

  private:
    int build(const KernelNode& n, int id);
    int loop(int id);
    std::vector<int> iterations(int loop, const std::vector<int>& inside);
    int branch(const KernelNode& n);

    const KernelCode& from_;
    KernelBuilder& b_;
    std::vector<int> memo_;
    std::unordered_map<int, std::vector<int>> results_;  // by For node: where its results stand
    std::unordered_map<int, int> range_node_;            // by range
    std::unordered_map<int, std::vector<int>>
        last_values_;  // of loops that are written out or rewritten
};

}  // namespace firn
