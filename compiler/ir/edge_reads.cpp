// Follows reads outside of a tensor, which give another invocation's element, to the stores, which
// drop the results if their index is outside too.
#include "compiler/ir/edge_reads.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "compiler/ir/affine_index.h"
#include "compiler/ir/apart.h"
#include "compiler/ir/by_hand.h"
#include "compiler/ir/uniform.h"

namespace firn {
namespace {

/// Follows the uses of the value that one read gives.
class EdgeUses {
  public:
    EdgeUses(const Node& kernel, const OwnNodes& own,
             const std::unordered_map<const Node*, const Node*>& root, const Node& read)
        : own_(own), root_(root) {
        const LoopAttr& attr = kernel.as<LoopAttr>();
        const Invocations all{attr.grid, attr.group, false, [&](const Node& node) {
                                  return own.contains(node) || !is_uniform(node, attr.group);
                              }};
        const Shape& shape = read.inputs[0]->shape;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const PlaceIndex at{read.inputs[axis + 1].get(), shape[axis],
                                read.as<GatherAttr>().modes[axis]};
            if (!touches_only_index(at, all)) beyond_.push_back(at);
        }
        reached_.insert(&read);
    }

    bool are_dropped() {
        if (beyond_.empty()) return true;
        for (size_t before = 0; before != reached_.size();) {
            before = reached_.size();
            for (const Ref& node : own_.order)
                if (!follow(*node)) return false;
        }
        return true;
    }

  private:
    bool is_reached(const Ref& node) const { return reached_.contains(node.get()); }
    bool is_reached(const std::vector<Ref>& nodes) const {
        return std::any_of(nodes.begin(), nodes.end(), [&](const Ref& n) { return is_reached(n); });
    }

    /// The node is a version of memory that other invocations see.
    bool is_common(const Node& node) const {
        const auto it = root_.find(&node);
        return it != root_.end() &&
               (it->second->op != Op::Array || it->second->as<ArrayAttr>().shared);
    }

    /// False where another invocation may come to see it.
    bool follow(const Node& node) {
        if (reached_.contains(&node)) return true;
        if (node.op == Op::Loop || node.op == Op::If) return follow_region(node);
        if (!is_reached(node.inputs)) return true;
        if (node.op == Op::Subgroup) return false;
        if (!is_common(node)) return reached_.insert(&node), true;
        return node.op != Op::Scatter || drops(node);
    }

    /// Marks a loop or branch as reached if any input or result is: the trip count of a loop may
    /// depend on all its carried values.
    bool follow_region(const Node& node) {
        const std::vector<const Region*> regions = regions_of(node);
        const bool reached = is_reached(node.inputs) ||
                             std::any_of(regions.begin(), regions.end(), [&](const Region* region) {
                                 return is_reached(region->results);
                             });
        if (!reached) return true;
        reached_.insert(&node);
        for (const Region* region : regions)
            for (const Ref& arg : region->args) {
                if (!is_common(*arg)) {
                    reached_.insert(arg.get());
                    continue;
                }
                for (const Ref& store : own_.order)
                    if (store->op == Op::Scatter && is_common(*store) &&
                        root_.at(store.get()) == root_.at(arg.get()) && !drops(*store))
                        return false;
            }
        return true;
    }

    /// Returns whether the store drops the values of every invocation that reads outside.
    bool drops(const Node& store) const {
        if (root_.at(&store)->op == Op::Array || store.as<ScatterAttr>().complete) return false;
        return std::all_of(beyond_.begin(), beyond_.end(), [&](const PlaceIndex& read) {
            for (size_t axis = 0; axis < store.shape.size(); ++axis)
                if (&unmasked(*store.inputs[axis + 2]) == read.index &&
                    proved_less_equal(store.shape[axis], read.extent))
                    return true;
            return false;
        });
    }

    const OwnNodes& own_;
    const std::unordered_map<const Node*, const Node*>& root_;
    std::vector<PlaceIndex> beyond_;  // indices of the read that may be outside
    std::unordered_set<const Node*> reached_;
};

}  // namespace

bool uses_only_own(const Node& kernel, const OwnNodes& own,
                   const std::unordered_map<const Node*, const Node*>& root, const Node& read) {
    return EdgeUses(kernel, own, root, read).are_dropped();
}

}  // namespace firn
