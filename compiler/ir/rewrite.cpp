// Walks over Graphs: topological order and bottom-up rebuilding, both without recursion over
// inputs.
#include <algorithm>
#include <optional>
#include <unordered_set>

#include "compiler/base/error.h"
#include "compiler/base/long_work.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/node_map.h"

namespace firn {
namespace {

/// Child k of a node: its inputs, then the arguments and results of its regions; null after the
/// last.
const Ref* child(const Node& node, size_t k) {
    if (k < node.inputs.size()) return &node.inputs[k];
    k -= node.inputs.size();
    auto in_region = [&k](const Region& region) -> const Ref* {
        if (k < region.args.size()) return &region.args[k];
        k -= region.args.size();
        if (k < region.results.size()) return &region.results[k];
        k -= region.results.size();
        return nullptr;
    };
    if (node.op == Op::Loop) return in_region(*node.as<LoopAttr>().body);
    if (node.op != Op::If) return nullptr;
    if (const Ref* found = in_region(*node.as<IfAttr>().then_body)) return found;
    return in_region(*node.as<IfAttr>().else_body);
}

struct Frame {
    const Ref* node;
    size_t next_child = 0;
};

/// Nodes after which a walk checks whether it is to end.
constexpr size_t kNodesBetween = 4096;

/// Calls `leave(ref)` for every node under `roots`, children first, each once; `enter(ref)` false
/// skips. Nodes for which `is_idle` is true have only their inputs as children.
template <class Enter, class Leave>
void walk(const std::vector<Ref>& roots, const Enter& enter, const Leave& leave,
          const IsIdle& is_idle = {}) {
    std::vector<Frame> stack;
    size_t left = 0;
    for (const Ref& root : roots) {
        if (enter(root)) stack.push_back({&root});
        while (!stack.empty()) {
            Frame& top = stack.back();
            const Node& node = **top.node;
            const bool ends = top.next_child == node.inputs.size() && is_idle && is_idle(node);
            const Ref* next = ends ? nullptr : child(node, top.next_child++);
            if (!next) {
                const Ref* done = top.node;
                stack.pop_back();
                leave(*done);
                if (++left % kNodesBetween == 0 && CancelScope::is_asked())
                    CancelScope::end("a graph of " + std::to_string(left) + " nodes and more");
            } else if (enter(*next)) {
                stack.push_back({next});
            }
        }
    }
}

Ref fresh_arg(NodeTable& table, const Ref& arg) {
    ensure(arg->op == Op::RegionArg, "a region argument was replaced by another node");
    Ref fresh = table.intern(Op::RegionArg, arg->dtype, arg->shape, {}, RegionArgAttr{});
    note_lines(*fresh, arg->lines);
    return fresh;
}

class Rewriter {
  public:
    Rewriter(NodeTable& table, const Visit& visit,
             const std::unordered_map<const Node*, Ref>& replace, const VisitRegion& visit_region,
             const IsIdle& is_idle = {})
        : table_(table), visit_(visit), visit_region_(visit_region), is_idle_(is_idle) {
        for (const auto& [node, replacement] : replace) memo_.insert(node, replacement);
    }

    /// Keeps every node that needs none of these region arguments (ids). Loops that need one have
    /// fresh arguments from the start, so that nested loops are rebuilt once.
    void only_users_of(std::unordered_set<uint64_t> args) { args_ = std::move(args); }

    std::vector<Ref> run(const std::vector<Ref>& results) {
        walk(
            results,
            [&](const Ref& node) {
                const bool stays = args_ && !uses_args(*node);
                if (!memo_.insert(node.get(), stays ? node : nullptr) || stays) return false;
                if (args_ && node->op == Op::Loop) renew_args(*node->as<LoopAttr>().body);
                return true;
            },
            [&](const Ref& node) { *memo_.find(node.get()) = rebuild(node); }, is_idle_);
        return mapped(results);
    }

  private:
    bool uses_args(const Node& node) const {
        return node.free_args && std::any_of(node.free_args->begin(), node.free_args->end(),
                                             [&](uint64_t id) { return args_->contains(id); });
    }

    void renew_args(const Region& body) {
        for (const Ref& arg : body.args) {
            memo_.insert(arg.get(), fresh_arg(table_, arg));
            args_->insert(arg->as<RegionArgAttr>().id);
        }
    }

    std::vector<Ref> mapped(const std::vector<Ref>& nodes) const {
        std::vector<Ref> out;
        out.reserve(nodes.size());
        for (const Ref& node : nodes) out.push_back(memo_.at(node.get()));
        return out;
    }

    Ref rebuild(const Ref& node) {
        if (is_idle_ && is_idle_(*node)) return node;  // its result is not used
        if (is_idle_ && node->op == Op::Result && is_idle_(*node->inputs[0]))
            return memo_.at(node->inputs[0]
                                ->inputs[static_cast<size_t>(node->as<ResultAttr>().index) + 3]
                                .get());
        std::vector<Ref> inputs = mapped(node->inputs);
        bool changed = inputs != node->inputs;
        if (node->op == Op::Loop || node->op == Op::If) {
            Ref made = rebuild_region_node(node, inputs, changed);
            Ref replaced = visit_region_ ? visit_region_(*node, made) : visit_(*made, made->inputs);
            return replaced ? replaced : made;
        }
        if (Ref replaced = visit_(*node, inputs)) return replaced;
        return changed ? remake_as(*node, std::move(inputs), node->attr) : node;
    }

    Ref remake_as(const Node& node, std::vector<Ref> inputs, Attr attr) {
        SourceLine line = first_line(node.lines);
        Ref made = remake(Builder{table_, line}, node, std::move(inputs), std::move(attr));
        // Only a node of the same operation: a movement may be folded to another node, such as the
        // memory itself.
        if (node.own && made->op == node.op) made = table_.as_own(std::move(made), node.own);
        note_lines(*made, node.lines);
        return made;
    }

    Ref rebuild_region_node(const Ref& node, const std::vector<Ref>& inputs, bool inputs_changed) {
        if (node->op == Op::If) {
            const auto& attr = node->as<IfAttr>();
            auto then_body = mapped_region(attr.then_body),
                 else_body = mapped_region(attr.else_body);
            if (!inputs_changed && then_body == attr.then_body && else_body == attr.else_body)
                return node;
            return remake_as(*node, inputs, IfAttr{then_body, else_body});
        }
        const auto& attr = node->as<LoopAttr>();
        auto body = mapped_region(attr.body);
        if (!inputs_changed && body == attr.body) return node;
        LoopAttr made = attr;
        if (!has_own_args(*body, *attr.body))
            body = std::make_shared<Region>(with_fresh_args(table_, *body));
        made.body = std::move(body);
        return remake_as(*node, inputs, made);
    }

    /// All arguments were replaced already, by others of their own.
    static bool has_own_args(const Region& made, const Region& before) {
        for (size_t k = 0; k < made.args.size(); ++k)
            if (made.args[k] == before.args[k]) return false;
        return true;
    }

    /// The same pointer where nothing inside changed.
    std::shared_ptr<const Region> mapped_region(const std::shared_ptr<const Region>& region) const {
        Region out{mapped(region->args), mapped(region->results)};
        if (out.args == region->args && out.results == region->results) return region;
        return std::make_shared<Region>(std::move(out));
    }

    NodeTable& table_;
    const Visit& visit_;
    const VisitRegion& visit_region_;
    const IsIdle is_idle_;
    NodeMap<Ref> memo_;  // null: entered, not rebuilt yet
    std::optional<std::unordered_set<uint64_t>> args_;
};

}  // namespace

std::vector<Ref> topological(const std::vector<Ref>& results) { return topological(results, {}); }

std::vector<Ref> topological(const std::vector<Ref>& results,
                             const std::function<bool(const Node&)>& is_leaf) {
    std::vector<Ref> order;
    NodeMap<char> seen;
    walk(
        results,
        [&](const Ref& node) {
            if (!seen.insert(node.get(), 1)) return false;
            const bool leaf = is_leaf && is_leaf(*node);
            if (leaf) order.push_back(node);
            return !leaf;
        },
        [&](const Ref& node) { order.push_back(node); });
    return order;
}

std::vector<Ref> rewrite(NodeTable& table, const std::vector<Ref>& results, const Visit& visit,
                         const std::unordered_map<const Node*, Ref>& replace,
                         const VisitRegion& visit_region, const IsIdle& is_idle) {
    return Rewriter(table, visit, replace, visit_region, is_idle).run(results);
}

std::vector<Ref> merge_equal(NodeTable& table, const std::vector<Ref>& results,
                             const std::unordered_map<const Node*, Ref>& replace) {
    const auto forget = [&table](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (!node.own) return nullptr;
        const Ref made = remake(Builder{table, first_line(node.lines)}, node, inputs, node.attr);
        note_lines(*made, node.lines);
        return made;
    };
    return rewrite(table, results, forget, replace);
}

Region with_fresh_args(NodeTable& table, const Region& region) {
    Region out;
    std::unordered_map<const Node*, Ref> renamed;
    for (const Ref& arg : region.args) {
        out.args.push_back(fresh_arg(table, arg));
        renamed.emplace(arg.get(), out.args.back());
    }
    out.results = substitute(table, region.results, renamed);
    return out;
}

std::vector<Ref> substitute(NodeTable& table, const std::vector<Ref>& results,
                            const std::unordered_map<const Node*, Ref>& replace) {
    const Visit as_it_is = [](const Node&, const std::vector<Ref>&) { return Ref(); };
    const VisitRegion same;
    Rewriter rewriter(table, as_it_is, replace, same);
    std::unordered_set<uint64_t> args;
    for (const auto& [node, made] : replace)
        if (node->op == Op::RegionArg) args.insert(node->as<RegionArgAttr>().id);
    if (args.size() == replace.size()) rewriter.only_users_of(std::move(args));
    return rewriter.run(results);
}

}  // namespace firn
