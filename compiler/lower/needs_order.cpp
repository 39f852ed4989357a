// Which kernels by hand only their user can map.
#include "compiler/lower/needs_order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

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

    /// Of the steps of a region, in their order.
    bool is_free(int region, bool in_loop) {
        const std::vector<HandStep> steps = order_steps(arrays_, placement_, region);
        return std::all_of(steps.begin(), steps.end(),
                           [&](const HandStep& step) { return is_free(*step.nodes[0], in_loop); });
    }

  private:
    bool is_free(const Node& step, bool in_loop) {
        switch (step.op) {
            case Op::Scatter:
                ++stores_;
                stored_.insert(arrays_.root.at(&step));
                return true;
            // It may come before all stores, and before a loop that it stands in.
            case Op::Gather: {
                const Node* root = arrays_.root.at(step.inputs[0].get());
                return !in_loop && !stored_.contains(root) && !arrays_.exchanged.contains(root);
            }
            case Op::Loop:
                return !asked_.contains(&step) && is_free(placement_.first_region.at(&step), true);
            case Op::If: {
                const int before = stores_, first = placement_.first_region.at(&step);
                return is_free(first, in_loop) && is_free(first + 1, in_loop) && stores_ == before;
            }
            default: return false;  // arrays, barriers, subgroups, what an atomic returns
        }
    }

    const HandArrays& arrays_;
    const Placement& placement_;
    std::unordered_set<const Node*> asked_, stored_;  // loops and branches; tensors
    int stores_ = 0;
};

bool fetches(const Placement& placement) {
    return std::any_of(placement.regions.begin(), placement.regions.end(), [](const auto& region) {
        return std::any_of(region.order.begin(), region.order.end(),
                           [](const Ref& node) { return node->op == Op::Fetched; });
    });
}

/// An effect, and where it stands.
struct Effect {
    const KernelNode* node;
    int region = 0;
    std::vector<int> loops;  // ranges, the outermost first
};

/// By buffer of the program.
using EffectsOf = std::map<int, std::vector<Effect>>;

void collect(const KernelCode& code, int region, std::vector<int>& loops, EffectsOf& out) {
    for (int id : code.regions[static_cast<size_t>(region)].effects) {
        const KernelNode& n = code.nodes[static_cast<size_t>(id)];
        if (n.op == KernelOp::Store || n.op == KernelOp::Atomic)
            out[code.buffers[static_cast<size_t>(n.buffer)].buffer].push_back({&n, region, loops});
        for (int inner : {n.region, n.else_region}) {
            if (inner < 0) continue;
            const int range = code.regions[static_cast<size_t>(inner)].range;
            if (range >= 0) loops.push_back(range);
            collect(code, inner, loops, out);
            if (range >= 0) loops.pop_back();
        }
    }
}

/// A flat index as a node and a constant.
std::pair<int, int64_t> place_of(const KernelCode& code, int index) {
    const KernelNode& n = code.nodes[static_cast<size_t>(index)];
    for (size_t k = 0; n.op == KernelOp::Add && k < 2; ++k) {
        const KernelNode& other = code.nodes[static_cast<size_t>(n.args[1 - k])];
        if (other.op == KernelOp::Constant) return {n.args[k], other.constant.i};
    }
    return {index, 0};
}

/// How far values move with each iteration of a loop.
class Steps {
  public:
    Steps(const KernelCode& code, int range) : code_(code), range_(range) {}

    /// Nothing where that is not the same for all iterations. A multiple of a size counts as a step
    /// of one: where the size is 0 there is no element.
    std::optional<int64_t> of(int id) {
        if (const auto known = known_.find(id); known != known_.end()) return known->second;
        const auto step = found(id);
        known_.emplace(id, step);
        return step;
    }

  private:
    std::optional<int64_t> found(int id) {
        const KernelNode& n = code_.nodes[static_cast<size_t>(id)];
        if (n.op == KernelOp::Range) return n.range == range_;
        if (n.region >= 0 || n.op == KernelOp::RegionArg) return std::nullopt;
        std::vector<int64_t> steps;
        for (int arg : n.args) {
            const auto step = of(arg);
            if (!step) return std::nullopt;
            steps.push_back(*step);
        }
        const auto moving = std::find_if(steps.begin(), steps.end(), [](int64_t s) { return s; });
        if (moving == steps.end()) return 0;
        if (std::any_of(moving + 1, steps.end(), [](int64_t s) { return s; })) return std::nullopt;
        if (n.op == KernelOp::Add) return *moving;
        if (n.op == KernelOp::Sub) return moving == steps.begin() ? *moving : -*moving;
        if (n.op != KernelOp::Mul) return std::nullopt;
        const KernelNode& by =
            code_.nodes[static_cast<size_t>(n.args[moving == steps.begin() ? 1 : 0])];
        if (by.op == KernelOp::Constant) return *moving * by.constant.i;
        if (by.op == KernelOp::Param) return *moving;
        return std::nullopt;
    }

    const KernelCode& code_;
    int range_;
    std::map<int, std::optional<int64_t>> known_;
};

bool may_meet(const KernelCode& code, const std::vector<Effect>& effects) {
    const Effect& first = effects[0];
    const auto is_alike = [&](const Effect& e) {
        return e.node->op == first.node->op && e.node->combine == first.node->combine;
    };
    if (!std::all_of(effects.begin(), effects.end(), is_alike)) return true;
    if (first.node->op == KernelOp::Atomic) return false;
    const int base = place_of(code, first.node->args[0]).first;
    std::set<int64_t> offsets;
    for (const Effect& e : effects) {
        const auto [at, offset] = place_of(code, e.node->args[0]);
        if (e.region != first.region || at != base || !offsets.insert(offset).second) return true;
    }
    if (first.loops.empty()) return false;
    const auto step = Steps(code, first.loops[0]).of(base);
    return first.loops.size() > 1 || effects.size() > 1 || !step || *step == 0;
}

}  // namespace

bool stores_may_meet(const KernelCode& code) {
    EffectsOf effects;
    std::vector<int> loops;
    collect(code, 0, loops, effects);
    return std::any_of(effects.begin(), effects.end(),
                       [&](const auto& entry) { return may_meet(code, entry.second); });
}

bool needs_order(const Node& kernel, const HandArrays& arrays, const Placement& placement) {
    return kernel.as<LoopAttr>().rounded || arrays.uses_subgroups || fetches(placement) ||
           !OrderCheck(arrays, placement).is_free(placement.first_region.at(&kernel), false);
}

}  // namespace firn
