// Finds loops that can run inside one kernel because each element is independent.
#include "compiler/schedule/element_loops.h"

#include <algorithm>

#include "compiler/ir/accumulation.h"
#include "compiler/ir/affine_index.h"
#include "compiler/schedule/access.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Walks a loop's body from its next values to every index at which carried values are asked for.
class ElementLoop {
  public:
    ElementLoop(const RegionFacts& facts, const UseCounts& uses, const Node& loop)
        : facts_(facts), uses_(uses), loop_(loop) {}

    bool check() {
        const Region& body = *loop_.as<LoopAttr>().body;
        const int active = loop_.as<LoopAttr>().active;
        Shape domain;
        const Shape* positions = nullptr;
        bool stores = false;
        for (size_t k = 0; k < body.results.size(); ++k) {
            const Ref& r = body.results[k];
            const std::vector<const Node*> chain = accumulation(loop_, k);
            if (!only_combines(chain, *body.args[k + 1])) {
                if (!join(domain, r->shape) ||
                    (active >= 0 &&
                     !ends_alone(r->shape, body.results[static_cast<size_t>(active)]->shape)))
                    return false;
                push(*r, maps_.identity(r->shape));
                continue;
            }
            stores |= chain[0]->as<ScatterAttr>().op == ScatterOp::Last;
            for (const Node* scatter : chain) {
                const Shape& at = scatter->inputs[1]->shape;
                if (positions && *positions != at) return false;
                positions = &at;
                for (size_t input = 1; input < scatter->inputs.size(); ++input)
                    push(*scatter->inputs[input], maps_.identity(at));
            }
        }
        if (positions && (!join(domain, *positions) || domain != *positions)) return false;
        // A kernel that stores in every iteration does nothing else: returning what is carried to
        // the end would take a second run of the loop.
        if (stores && gives_ends()) return false;
        while (!queue_.empty()) {
            if (seen_.size() > costs::kMostLoopWalk) return false;
            const auto [node, map] = queue_.back();
            queue_.pop_back();
            if (!visit(*node, map)) return false;
        }
        return true;
    }

  private:
    /// True if a final value that the loop carries, and does not write by position, is asked for.
    bool gives_ends() const {
        return std::any_of(facts_.order.begin(), facts_.order.end(), [&](const Ref& node) {
            return node->op == Op::Result && node->inputs[0].get() == &loop_ &&
                   accumulation(loop_, static_cast<size_t>(node->as<ResultAttr>().index)).empty();
        });
    }

    bool only_combines(const std::vector<const Node*>& chain, const Node& arg) const {
        return !chain.empty() && uses_.at(&arg) == 1 &&
               std::all_of(chain.begin(), chain.end(),
                           [&](const Node* n) { return uses_.at(n) == 1; });
    }

    static bool join(Shape& domain, const Shape& shape) {
        if (shape.size() > domain.size())
            domain.insert(domain.begin(), shape.size() - domain.size(), Size(1));
        for (size_t k = 0; k < shape.size(); ++k) {
            Size& d = domain[domain.size() - shape.size() + k];
            if (d.is(1))
                d = shape[k];
            else if (!shape[k].is(1) && shape[k] != d)
                return false;
        }
        return true;
    }

    /// True if each element of a value has its own end: the flag has no axis that the value lacks.
    static bool ends_alone(const Shape& shape, const Shape& flag) {
        Shape all = shape;
        return flag.size() <= shape.size() && join(all, flag) && all == shape;
    }

    void push(const Node& node, int map) {
        const auto& loops = facts_.loops.at(&node);
        if (std::find(loops.begin(), loops.end(), &loop_) == loops.end()) return;
        if (seen_.insert({&node, map}).second) queue_.push_back({&node, map});
    }

    bool visit(const Node& node, int map) {
        if (node.op == Op::RegionArg) {
            if (facts_.arg_owner.at(&node) != &loop_) {
                // An inner loop's carried value starts from, and continues as, values at the same
                // index.
                const Node& inner = *facts_.arg_owner.at(&node);
                const int k = facts_.arg_index.at(&node) - 1;
                if (k < 0) return true;
                const Ref& init = inner.inputs[k + 3];
                push(*init, maps_.projected(map, node.shape, init->shape));
                push(*inner.as<LoopAttr>().body->results[k], map);
                return true;
            }
            return facts_.arg_index.at(&node) == 0 || map == maps_.identity(node.shape);
        }
        if (node.op == Op::Result) {
            const Node& owner = *node.inputs[0];
            const int k = node.as<ResultAttr>().index;
            for (const Ref& r : owner.inputs)
                if (r->shape.empty()) push(*r, maps_.identity({}));
            if (owner.op == Op::If) {
                push(*owner.inputs[0], maps_.projected(map, node.shape, owner.inputs[0]->shape));
                for (const auto& region :
                     {owner.as<IfAttr>().then_body, owner.as<IfAttr>().else_body})
                    push(*region->results[k],
                         maps_.projected(map, node.shape, region->results[k]->shape));
                return true;
            }
            if (facts_.host_loops.contains(&owner) ||
                !accumulation(owner, static_cast<size_t>(k)).empty())
                return false;
            const Ref& init = owner.inputs[k + 3];
            push(*init, maps_.projected(map, node.shape, init->shape));
            push(*owner.as<LoopAttr>().body->results[k], map);
            push_active(owner, node.shape, map);
            return true;
        }
        if (is_scattering(node)) return false;
        for (size_t k = 0; k < node.inputs.size(); ++k)
            push(*node.inputs[k], maps_.input_map(node, static_cast<int>(k), map));
        return true;
    }

    /// Pushes the flag that ends an inner loop, which is asked for wherever one of the loop's
    /// values is.
    void push_active(const Node& loop, const Shape& shape, int map) {
        const int active = loop.as<LoopAttr>().active;
        if (active < 0) return;
        const Ref &init = loop.inputs[static_cast<size_t>(active) + 3],
                  &next = loop.as<LoopAttr>().body->results[static_cast<size_t>(active)];
        if (init->shape.size() > shape.size() || next->shape.size() > shape.size()) return;
        push(*init, maps_.projected(map, shape, init->shape));
        push(*next, maps_.projected(map, shape, next->shape));
    }

    struct PairHash {
        size_t operator()(const std::pair<const Node*, int>& p) const {
            return std::hash<const Node*>()(p.first) * 31 + static_cast<size_t>(p.second);
        }
    };
    const RegionFacts& facts_;
    const UseCounts& uses_;
    const Node& loop_;
    AccessMaps maps_;
    std::unordered_set<std::pair<const Node*, int>, PairHash> seen_;
    std::vector<std::pair<const Node*, int>> queue_;
};

}  // namespace

UseCounts count_uses(const std::vector<Ref>& order) {
    UseCounts uses;
    for (const Ref& ref : order) {
        for (const Ref& input : ref->inputs) ++uses[input.get()];
        for (const Ref& r : region_results(*ref)) ++uses[r.get()];
    }
    return uses;
}

bool is_element_loop(const RegionFacts& regions, const UseCounts& uses, const Node& loop) {
    return ElementLoop(regions, uses, loop).check();
}

}  // namespace firn
