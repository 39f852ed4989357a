// Drops carried values without a use, and replaces those that never change by their initial values.
#include <set>
#include <unordered_set>

#include "compiler/ir/builder.h"
#include "compiler/passes/passes.h"

namespace firn {
namespace {

/// A value of a region node: carried value (or branch result) `index` of `owner`.
struct Slot {
    const Node* owner;
    size_t index;
};

/// The nodes, and the values of Loops and Ifs, that the results of a graph need.
class Liveness {
  public:
    explicit Liveness(const std::vector<Ref>& results) {
        nodes_ = topological(results);
        for (const Ref& node : nodes_)
            if (node->op == Op::Loop) {
                const auto& args = node->as<LoopAttr>().body->args;
                for (size_t k = 1; k < args.size(); ++k)
                    carried_by_[args[k].get()] = {node.get(), k - 1};
            }
        for (const Ref& result : results) need(result);
        while (!pending_.empty()) {
            const Node* node = pending_.back();
            pending_.pop_back();
            follow(*node);
        }
    }

    bool needs(const Node& owner, size_t index) const {
        auto found = slots_.find(&owner);
        return found != slots_.end() && found->second[index];
    }

    /// Returns whether the loop's carried value is used outside of it.
    bool comes_out(const Node& loop, size_t index) const {
        return come_out_.contains({&loop, index});
    }

    /// Nodes that are not needed, mapped to themselves: a rewrite does not enter them.
    std::unordered_map<const Node*, Ref> dead_nodes() const {
        std::unordered_map<const Node*, Ref> out;
        for (const Ref& node : nodes_)
            if (!live_.contains(node.get()) && node->op != Op::RegionArg)
                out.emplace(node.get(), node);
        return out;
    }

  private:
    void need(const Ref& node) {
        if (live_.insert(node.get()).second) pending_.push_back(node.get());
    }

    void follow(const Node& node) {
        auto carried = carried_by_.find(&node);
        if (carried != carried_by_.end()) need_slot(carried->second);
        if (node.op == Op::Result) {
            live_.insert(node.inputs[0].get());
            const Slot slot{node.inputs[0].get(), static_cast<size_t>(node.as<ResultAttr>().index)};
            come_out_.insert({slot.owner, slot.index});
            need_slot(slot);
            return;
        }
        for (const Ref& input : node.inputs) need(input);
    }

    void need_slot(Slot slot) {
        const Node& owner = *slot.owner;
        bool is_loop = owner.op == Op::Loop;
        size_t count = is_loop ? owner.as<LoopAttr>().body->results.size()
                               : owner.as<IfAttr>().then_body->results.size();
        std::vector<bool>& needed = slots_.try_emplace(&owner, count).first->second;
        if (needed[slot.index]) return;
        needed[slot.index] = true;
        if (!is_loop) {
            need(owner.inputs[0]);
            need(owner.as<IfAttr>().then_body->results[slot.index]);
            need(owner.as<IfAttr>().else_body->results[slot.index]);
            return;
        }
        for (size_t k = 0; k < 3; ++k) need(owner.inputs[k]);
        need(owner.inputs[slot.index + 3]);
        need(owner.as<LoopAttr>().body->results[slot.index]);
        const LoopAttr& attr = owner.as<LoopAttr>();
        if (attr.active >= 0) need_slot({&owner, static_cast<size_t>(attr.active)});
        for (size_t k = 0; k < attr.sizes.size(); ++k) need_slot({&owner, k});
    }

    std::vector<Ref> nodes_;
    std::unordered_map<const Node*, Slot> carried_by_;
    std::unordered_set<const Node*> live_;
    std::unordered_map<const Node*, std::vector<bool>> slots_;
    std::set<std::pair<const Node*, size_t>> come_out_;
    std::vector<const Node*> pending_;
};

/// The replacement of a value of a Loop or If: its new index, or the value that stands for it.
struct Fate {
    int index = -1;
    Ref value;
};

bool is_constant_true(const Ref& node) {
    const Node& source = node->op == Op::Expand ? *node->inputs[0] : *node;
    return source.op == Op::Constant && source.as<ConstantAttr>().value.i != 0;
}

class Pruner {
  public:
    Pruner(NodeTable& table, const Graph& graph, RuleCounts* fired)
        : table_(table), graph_(graph), fired_(fired), live_(graph.results) {}

    Graph run() {
        auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
            if (node.op != Op::Result) return nullptr;
            auto fates = fates_.find(node.inputs[0].get());
            if (fates == fates_.end()) return nullptr;
            const Fate& fate = fates->second[static_cast<size_t>(node.as<ResultAttr>().index)];
            return fate.value ? fate.value
                              : result({table_, first_line(node.lines)}, inputs[0], fate.index);
        };
        auto visit_region = [&](const Node& node, const Ref& rebuilt) {
            return node.op == Op::Loop ? prune_loop(node, rebuilt) : prune_if(node, rebuilt);
        };
        return {graph_.args,
                rewrite(table_, graph_.results, visit, live_.dead_nodes(), visit_region),
                graph_.guards, graph_.data_sizes};
    }

  private:
    void count(const char* rule) {
        if (fired_) ++(*fired_)[rule];
    }

    /// Returns the constant value of each carried value, null if it changes. An unchanged value may
    /// also be another unchanged one that started the same.
    std::vector<Ref> unchanged_values(const Node& loop) {
        const auto& attr = loop.as<LoopAttr>();
        const Region& body = *attr.body;
        std::vector<Ref> same(body.results.size());
        std::unordered_map<const Node*, size_t> carried;
        for (size_t k = 0; k < same.size(); ++k) carried.emplace(body.args[k + 1].get(), k);
        for (bool again = true; again;) {
            again = false;
            for (size_t k = 0; k < same.size(); ++k) {
                if (same[k] || k < attr.sizes.size()) continue;
                Ref next = body.results[k];
                auto arg = carried.find(next.get());
                if (arg != carried.end() && same[arg->second]) next = same[arg->second];
                const Ref& init = loop.inputs[k + 3];
                if (next != init && next != body.args[k + 1]) continue;
                if (static_cast<int>(k) == attr.active && !is_constant_true(init)) continue;
                same[k] = init;
                again = true;
            }
        }
        return same;
    }

    /// A use of a value of a loop that may never end needs the loop's end, even if the body leaves
    /// the value as it was: if no other value is used outside, the first of those stays.
    void keep_one(const Node& original, std::vector<Ref>& same) const {
        if (original.as<LoopAttr>().must_end == MustEnd::No) return;
        Ref* first = nullptr;
        for (size_t k = 0; k < same.size(); ++k) {
            if (!live_.comes_out(original, k)) continue;
            if (!same[k]) return;
            if (!first) first = &same[k];
        }
        if (first) *first = nullptr;
    }

    Ref prune_loop(const Node& original, const Ref& rebuilt) {
        const auto& attr = rebuilt->as<LoopAttr>();
        const Region& body = *attr.body;
        std::vector<Ref> same = unchanged_values(*rebuilt);
        keep_one(original, same);
        std::vector<Fate> fates(same.size());
        Builder b{table_, first_line(original.lines)};
        std::unordered_map<const Node*, Ref> replace;
        Region kept{{region_arg(b, i32, {})}, {}};
        replace.emplace(body.args[0].get(), kept.args[0]);
        std::vector<Ref> inits;
        for (size_t k = 0; k < same.size(); ++k) {
            const Ref& arg = body.args[k + 1];
            if (!live_.needs(original, k)) {
                count("dead carried value");
                continue;
            }
            if (same[k]) {
                count("unchanged carried value");
                replace.emplace(arg.get(), same[k]);
                fates[k].value = same[k];
                continue;
            }
            fates[k].index = static_cast<int>(inits.size());
            kept.args.push_back(region_arg(b, arg->dtype, arg->shape));
            note_lines(*kept.args.back(), arg->lines);
            replace.emplace(arg.get(), kept.args.back());
            kept.results.push_back(body.results[k]);
            inits.push_back(rebuilt->inputs[k + 3]);
        }
        bool all_kept = inits.size() == same.size();
        int active = attr.active < 0 ? -1 : fates[static_cast<size_t>(attr.active)].index;
        fates_[&original] = std::move(fates);
        if (all_kept) return rebuilt;
        kept.results = substitute(table_, kept.results, replace);
        Ref made =
            attr.by_hand()
                ? kernel_by_hand(b, inits, std::move(kept), attr.grid, attr.group, attr.rounded)
                : loop(b, rebuilt->inputs[0], rebuilt->inputs[1], rebuilt->inputs[2], inits,
                       std::move(kept), active, attr.must_end, attr.sizes);
        note_lines(*made, original.lines);
        return made;
    }

    Ref prune_if(const Node& original, const Ref& rebuilt) {
        const auto& attr = rebuilt->as<IfAttr>();
        Region then_body, else_body;
        std::vector<Fate> fates(attr.then_body->results.size());
        for (size_t k = 0; k < fates.size(); ++k) {
            if (!live_.needs(original, k)) {
                count("dead branch value");
                continue;
            }
            fates[k].index = static_cast<int>(then_body.results.size());
            then_body.results.push_back(attr.then_body->results[k]);
            else_body.results.push_back(attr.else_body->results[k]);
        }
        bool all_kept = then_body.results.size() == fates.size();
        fates_[&original] = std::move(fates);
        if (all_kept) return rebuilt;
        std::vector<Guard> known;  // these sizes met when the branch was recorded
        Ref made = branch({table_, first_line(original.lines), &known}, rebuilt->inputs[0],
                          std::move(then_body), std::move(else_body));
        note_lines(*made, original.lines);
        return made;
    }

    NodeTable& table_;
    const Graph& graph_;
    RuleCounts* fired_;
    Liveness live_;
    std::unordered_map<const Node*, std::vector<Fate>> fates_;
};

}  // namespace

Graph dead_loop_values(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    return Pruner(table, graph, fired).run();
}

}  // namespace firn
