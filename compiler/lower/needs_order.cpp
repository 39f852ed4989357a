// Finds the kernels by hand that only their user can map.
#include "compiler/lower/needs_order.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/affine_index.h"
#include "compiler/kernel/index_form.h"
#include "compiler/lower/order_steps.h"

namespace firn {
namespace {

class OrderCheck {
  public:
    OrderCheck(const HandArrays& arrays, const Placement& placement)
        : arrays_(arrays), placement_(placement) {
        for (const PlacedRegion& region : placement.regions)
            for (const Ref& node : region.order)
                if (node->op == Op::Result && !arrays.root.contains(node.get()))
                    asked_.insert(node->inputs[0].get());
    }

    /// Returns whether the steps of a region may run in any order.
    bool is_free(int region, bool in_loop) {
        const std::vector<HandStep> steps = order_steps(arrays_, placement_, region);
        return std::all_of(steps.begin(), steps.end(),
                           [&](const HandStep& step) { return is_free(*step.nodes[0], in_loop); });
    }

  private:
    bool is_free(const Node& step, bool in_loop) {
        switch (step.op) {
            case Op::Scatter: return may_store(step, in_loop);
            // It may come before all stores, and before a loop that it stands in.
            case Op::Gather:
                return !in_loop && !stores_.contains(arrays_.root.at(step.inputs[0].get()));
            case Op::Loop:
                return !asked_.contains(&step) && is_free(placement_.first_region.at(&step), true);
            case Op::If: {
                const size_t before = count_;
                const int first = placement_.first_region.at(&step);
                return is_free(first, in_loop) && is_free(first + 1, in_loop) && count_ == before;
            }
            default: return false;  // arrays, barriers, subgroups, results of atomics
        }
    }

    struct Store {
        const Node* node;
        bool in_loop;
    };

    bool may_store(const Node& node, bool in_loop) {
        std::vector<Store>& others = stores_[arrays_.root.at(&node)];
        for (const Store& other : others)
            if (!in_any_order(node, *other.node, in_loop || other.in_loop)) return false;
        others.push_back({&node, in_loop});
        ++count_;
        return true;
    }

    /// They combine in one way, or store to different elements.
    static bool in_any_order(const Node& a, const Node& b, bool in_loop) {
        const ScatterOp op = a.as<ScatterAttr>().op;
        if (op != b.as<ScatterAttr>().op) return false;
        if (op != ScatterOp::Last) return true;
        for (size_t k = 2; k < a.inputs.size(); ++k) {
            const auto [base, offset] = place_of(*a.inputs[k]);
            const auto [other, other_offset] = place_of(*b.inputs[k]);
            // The same node may have another value in another iteration of a loop.
            if (base == other && (!base || !in_loop) && offset != other_offset) return true;
        }
        return false;
    }

    /// The index as a value, none where it is a number, and a number.
    static std::pair<const Node*, int64_t> place_of(const Node& index) {
        const Node* node = &without_expand(unmasked(index));
        int64_t offset = 0;
        while (node->op == Op::Add || node->op == Op::Sub) {
            const Node &a = without_expand(*node->inputs[0]), &b = without_expand(*node->inputs[1]);
            if (b.op == Op::Constant) {
                offset += (node->op == Op::Add ? 1 : -1) * b.as<ConstantAttr>().value.i;
                node = &a;
            } else if (a.op == Op::Constant && node->op == Op::Add) {
                offset += a.as<ConstantAttr>().value.i;
                node = &b;
            } else {
                break;
            }
        }
        if (node->op == Op::Constant) return {nullptr, offset + node->as<ConstantAttr>().value.i};
        return {node, offset};
    }

    const HandArrays& arrays_;
    const Placement& placement_;
    std::unordered_set<const Node*> asked_;                       // loops and branches
    std::unordered_map<const Node*, std::vector<Store>> stores_;  // by tensor
    size_t count_ = 0;                                            // of all stores
};

bool fetches(const Placement& placement) {
    return std::any_of(placement.regions.begin(), placement.regions.end(), [](const auto& region) {
        return std::any_of(region.order.begin(), region.order.end(),
                           [](const Ref& node) { return node->op == Op::Fetched; });
    });
}

/// `loops`: how many the region stands in; `range`: of the innermost one.
bool may_meet(const KernelCode& code, IndexForms& forms, RegionId region, int loops,
              RangeId range) {
    const std::vector<NodeId>& effects = code[region].effects;
    return std::any_of(effects.begin(), effects.end(), [&](NodeId id) {
        const KernelNode& n = code[id];
        if (n.op == KernelOp::Store && loops > 0) {
            // If a factor that is a size is 0, there is no element.
            const IndexForm& index = forms.of(n.args[0]);
            const bool moves = !index.carried && !index.others.contains(range) &&
                               !coefficient_of(index.sum, range).is(0);
            if (loops > 1 || !moves) return true;
        }
        for (RegionId inner : bodies(n)) {
            const RangeId own = code[inner].range;
            if (may_meet(code, forms, inner, loops + (own ? 1 : 0), own ? own : range)) return true;
        }
        return false;
    });
}

}  // namespace

bool iterations_may_meet(const KernelCode& code) {
    IndexForms forms(code);
    return may_meet(code, forms, kRoot, 0, {});
}

bool needs_order(const Node& kernel, const HandArrays& arrays, const Placement& placement) {
    return kernel.as<LoopAttr>().rounded || arrays.uses_subgroups || fetches(placement) ||
           !OrderCheck(arrays, placement).is_free(placement.first_region.at(&kernel), false);
}

}  // namespace firn
