// Which loops become steps of kernels, and to which loop's body each value belongs.
#include <algorithm>

#include "compiler/ir/accumulation.h"
#include "compiler/ir/affine_index.h"
#include "compiler/schedule/access.h"
#include "compiler/schedule/schedule.h"

namespace firn {
namespace {

constexpr size_t kWalkBudget = 20000;  // (value, map) pairs that are followed through one loop body

std::vector<const Node*> merge(std::vector<const Node*> a, const std::vector<const Node*>& b) {
    for (const Node* n : b)
        if (std::find(a.begin(), a.end(), n) == a.end()) a.push_back(n);
    return a;
}

const Region* body_of(const Node& node) {
    return node.op == Op::Loop ? node.as<LoopAttr>().body.get() : nullptr;
}

using Uses = std::unordered_map<const Node*, int>;

Uses count_uses(const std::vector<Ref>& order) {
    Uses uses;
    for (const Ref& ref : order) {
        for (const Ref& input : ref->inputs) ++uses[input.get()];
        for (const Ref& r : region_results(*ref)) ++uses[r.get()];
    }
    return uses;
}

/// Walks a loop's body from its next values: true when each carried value is asked only at the
/// element's own index, so that the loop can run inside one kernel. What turns only combine into is
/// no value of an element: each element is a position there, and combines on its own.
class ElementLoop {
  public:
    ElementLoop(const RegionFacts& facts, const Uses& uses, const Node& loop)
        : facts_(facts), uses_(uses), loop_(loop) {}

    bool check() {
        const Region& body = *loop_.as<LoopAttr>().body;
        const int active = loop_.as<LoopAttr>().active;
        Shape domain;
        const Shape* positions = nullptr;
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
            for (const Node* scatter : chain) {
                const Shape& at = scatter->inputs[1]->shape;
                if (positions && *positions != at) return false;
                positions = &at;
                for (size_t input = 1; input < scatter->inputs.size(); ++input)
                    push(*scatter->inputs[input], maps_.identity(at));
            }
        }
        if (positions && (!join(domain, *positions) || domain != *positions)) return false;
        while (!queue_.empty()) {
            if (seen_.size() > kWalkBudget) return false;
            const auto [node, map] = queue_.back();
            queue_.pop_back();
            if (!visit(*node, map)) return false;
        }
        return true;
    }

  private:
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

    /// Each element of a value knows how long it goes on: the flag has no axis that the value has
    /// not.
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
                // A loop inside: its carried value starts from, and goes on as, values at the same
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
            push(*body_of(owner)->results[k], map);
            push_active(owner, node.shape, map);
            return true;
        }
        if (is_scattering(node)) return false;
        for (size_t k = 0; k < node.inputs.size(); ++k)
            push(*node.inputs[k], maps_.input_map(node, static_cast<int>(k), map));
        return true;
    }

    /// How long a loop inside runs is asked wherever one of its values is.
    void push_active(const Node& loop, const Shape& shape, int map) {
        const int active = loop.as<LoopAttr>().active;
        if (active < 0) return;
        const Ref &init = loop.inputs[static_cast<size_t>(active) + 3],
                  &next = body_of(loop)->results[static_cast<size_t>(active)];
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
    const Uses& uses_;
    const Node& loop_;
    AccessMaps maps_;
    std::unordered_set<std::pair<const Node*, int>, PairHash> seen_;
    std::vector<std::pair<const Node*, int>> queue_;
};

void find_arrays(RegionFacts& facts) {
    auto version_of = [&](const Node& node) -> const Node* {
        if (node.op == Op::Scatter)
            return node.as<ScatterAttr>().by_hand ? node.inputs[0].get() : nullptr;
        if (node.op == Op::Barrier) return node.inputs[0].get();
        if (node.op == Op::RegionArg && facts.arg_owner.contains(&node) &&
            facts.arg_index.at(&node) > 0)
            return facts.arg_owner.at(&node)
                ->inputs[static_cast<size_t>(facts.arg_index.at(&node)) + 2]
                .get();
        if (node.op == Op::Result && node.inputs[0]->op == Op::Loop &&
            !node.inputs[0]->as<LoopAttr>().by_hand())
            return node.inputs[0]
                ->inputs[static_cast<size_t>(node.as<ResultAttr>().index) + 3]
                .get();
        return nullptr;
    };
    for (const Ref& ref : facts.order) {
        const auto owner = facts.arg_owner.find(ref.get());
        const bool carried = owner != facts.arg_owner.end() &&
                             owner->second->as<LoopAttr>().by_hand() &&
                             facts.arg_index.at(ref.get()) > 0;
        const Node* before = version_of(*ref);
        if (ref->op == Op::Array || carried || (before && facts.arrays.contains(before)))
            facts.arrays.insert(ref.get());
    }
}

/// A data symbol of the turns of a loop, and what gives its value.
struct SizeOfTurn {
    const Node *loop, *count;
};
using SizesOfTurns = std::unordered_map<std::string, SizeOfTurn>;

SizesOfTurns sizes_of_turns(const std::vector<Ref>& order) {
    SizesOfTurns out;
    for (const Ref& ref : order) {
        if (ref->op != Op::Loop) continue;
        const LoopAttr& attr = ref->as<LoopAttr>();
        for (size_t k = 0; k < attr.sizes.size(); ++k)
            out[data_symbols(attr.sizes[k]).at(0).name] = {ref.get(), attr.body->results[k].get()};
    }
    return out;
}

/// What mentions a size of a turn belongs to the turn, whatever its inputs are.
std::vector<const Node*> loops_of_sizes(const Node& node, const SizesOfTurns& sized,
                                        const RegionFacts& facts) {
    std::vector<const Node*> loops;
    for_sizes(node, [&](const Size& size) {
        for (const SizeAtom& symbol : data_symbols(size)) {
            const auto at = sized.find(symbol.name);
            if (at == sized.end()) continue;
            loops = merge(std::move(loops), {at->second.loop});
            loops = merge(std::move(loops), facts.loops.at(at->second.count));
        }
    });
    return loops;
}

}  // namespace

std::vector<Ref> region_results(const Node& node) {
    if (node.op == Op::Loop) return node.as<LoopAttr>().body->results;
    if (node.op != Op::If) return {};
    std::vector<Ref> out = node.as<IfAttr>().then_body->results;
    const auto& other = node.as<IfAttr>().else_body->results;
    out.insert(out.end(), other.begin(), other.end());
    return out;
}

RegionFacts region_facts(const Graph& graph) {
    RegionFacts facts;
    facts.order = topological(graph.results);
    for (size_t k = 0; k < facts.order.size(); ++k) {
        const Node* node = facts.order[k].get();
        facts.position[node] = static_cast<int>(k);
        if (const Region* body = body_of(*node))
            for (size_t a = 0; a < body->args.size(); ++a) {
                facts.arg_owner[body->args[a].get()] = node;
                facts.arg_index[body->args[a].get()] = static_cast<int>(a);
            }
    }
    const auto sized = sizes_of_turns(facts.order);
    for (const Ref& ref : facts.order) {
        std::vector<const Node*> loops;
        if (!sized.empty()) loops = loops_of_sizes(*ref, sized, facts);
        if (auto it = facts.arg_owner.find(ref.get()); it != facts.arg_owner.end())
            loops.push_back(it->second);
        for (const Ref& input : ref->inputs)
            loops = merge(std::move(loops), facts.loops[input.get()]);
        for (const Ref& r : region_results(*ref))
            loops = merge(std::move(loops), facts.loops[r.get()]);
        std::erase(loops, ref.get());
        facts.loops[ref.get()] = std::move(loops);
    }
    // What stands in the turns of a loop stands in those of every loop around it, whether it
    // depends on them or not.
    for (size_t k = facts.order.size(); k-- > 0;) {  // loops around stand behind what they hold
        std::vector<const Node*>& loops = facts.loops[facts.order[k].get()];
        const std::vector<const Node*> own = loops;
        for (const Node* loop : own) loops = merge(std::move(loops), facts.loops[loop]);
    }
    find_arrays(facts);
    const Uses uses = count_uses(facts.order);
    std::unordered_set<const Node*> around;  // loops with steps inside; these come before them
    auto note_around = [&](const Node& step) {
        const auto& loops = facts.loops[&step];
        around.insert(loops.begin(), loops.end());
    };
    for (const Ref& ref : facts.order) {
        if (ref->op != Op::Loop) continue;
        if (const Node* by_hand = kernel_by_hand(facts, *ref)) {
            if (by_hand == ref.get()) note_around(*ref);
            continue;
        }
        const bool host = ref->as<LoopAttr>().host || !ref->as<LoopAttr>().sizes.empty() ||
                          around.contains(ref.get()) || !ElementLoop(facts, uses, *ref).check();
        if (!host) continue;
        facts.host_loops.insert(ref.get());
        note_around(*ref);
    }
    return facts;
}

const Node* home_loop(const RegionFacts& facts, const Node& node) {
    // Of the host loops that the node depends on, the innermost stands first in topological order.
    const Node* home = nullptr;
    for (const Node* loop : facts.loops.at(&node))
        if (facts.host_loops.contains(loop) &&
            (!home || facts.position.at(loop) < facts.position.at(home)))
            home = loop;
    return home;
}

const Node* kernel_by_hand(const RegionFacts& facts, const Node& node) {
    auto by_hand = [](const Node& loop) {
        return loop.op == Op::Loop && loop.as<LoopAttr>().by_hand();
    };
    if (by_hand(node)) return &node;
    const auto& loops = facts.loops.at(&node);
    const auto found =
        std::find_if(loops.begin(), loops.end(), [&](const Node* loop) { return by_hand(*loop); });
    return found == loops.end() ? nullptr : *found;
}

bool is_stored_by_hand(const Node& node) {
    return node.op == Op::Result && node.inputs[0]->op == Op::Loop &&
           node.inputs[0]->as<LoopAttr>().by_hand();
}

std::unordered_map<const Node*, Size> host_inductions(const RegionFacts& facts) {
    std::unordered_map<const Node*, Size> out;
    for (const Ref& ref : facts.order)
        if (facts.host_loops.contains(ref.get()))
            out.emplace(ref->as<LoopAttr>().body->args[0].get(),
                        Size::symbol("$i" + std::to_string(out.size())));
    return out;
}

}  // namespace firn
