// Moves carried values of a Loop inside a region that do not need the region to a Loop outside.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "compiler/ir/builder.h"
#include "compiler/passes/passes.h"

namespace firn {
namespace {

using Args = std::set<uint64_t>;  // ids of region arguments

/// Returns whether no iteration decides whether the next one runs, nor its sizes.
bool runs_to_its_end(const Node& loop) {
    const LoopAttr& attr = loop.as<LoopAttr>();
    return attr.active < 0 && !attr.host && !attr.open && attr.must_end == MustEnd::No &&
           attr.sizes.empty() && attr.checkpoint == 0 && !attr.by_hand();
}

/// The arguments of regions around it that a value needs. A Result needs those of its own carried
/// value and not, as in `free_args`, those of its whole Loop.
class Needs {
  public:
    explicit Needs(const Graph& graph) {
        const std::vector<Ref> order = topological(graph.results);
        for (const Ref& node : order)
            if (node->op == Op::Loop)
                for (const Ref& arg : node->as<LoopAttr>().body->args)
                    owner_[arg->as<RegionArgAttr>().id] = node.get();
        for (const Ref& node : order) add(*node);
    }

    /// Marks, by carried value, those that need fewer regions around them than their Loop; empty if
    /// there is none.
    std::vector<bool> leaves(const Node& loop) {
        const auto found = carried_.find(&loop);
        if (found == carried_.end()) return {};
        std::vector<bool> out;
        for (const Args& args : found->second) out.push_back(depth(args) < depth(all_of(loop)));
        return std::find(out.begin(), out.end(), true) == out.end() ? std::vector<bool>() : out;
    }

  private:
    static Args all_of(const Node& node) {
        return node.free_args ? Args(node.free_args->begin(), node.free_args->end()) : Args();
    }
    Args of(const Node& node) const {
        const auto found = fewer_.find(&node);
        return found == fewer_.end() ? all_of(node) : found->second;
    }

    /// Returns the number of regions around nodes that need these.
    int depth(const Args& args) {
        int most = 0;
        for (const uint64_t arg : args) {
            auto [known, is_new] = depth_.try_emplace(owner_.at(arg), 0);
            if (is_new) {
                const int own = depth(all_of(*known->first)) + 1;
                depth_[owner_.at(arg)] = own;
            }
            most = std::max(most, depth_.at(owner_.at(arg)));
        }
        return most;
    }

    void add(const Node& node) {
        if (!node.free_args || node.op == Op::RegionArg || node.op == Op::If) return;
        if (node.op == Op::Loop) {
            if (runs_to_its_end(node)) carried_[&node] = carried_by(node);
            return;
        }
        if (node.op == Op::Result) {
            const auto found = carried_.find(node.inputs[0].get());
            if (found == carried_.end()) return;
            fewer_[&node] = found->second[static_cast<size_t>(node.as<ResultAttr>().index)];
            return;
        }
        if (std::none_of(node.inputs.begin(), node.inputs.end(),
                         [&](const Ref& input) { return fewer_.contains(input.get()); }))
            return;
        Args args;
        for (const Ref& input : node.inputs) args.merge(of(*input));
        fewer_[&node] = std::move(args);
    }

    /// Returns the needs of each carried value: its own, and those of the others that its next
    /// value depends on.
    std::vector<Args> carried_by(const Node& loop) const {
        const Region& body = *loop.as<LoopAttr>().body;
        std::unordered_map<uint64_t, size_t> places;  // 0: the iteration
        for (size_t k = 0; k < body.args.size(); ++k)
            places[body.args[k]->as<RegionArgAttr>().id] = k;
        Args bounds;
        for (size_t k = 0; k < 3; ++k) bounds.merge(of(*loop.inputs[k]));
        std::vector<Args> out;
        for (size_t first = 0; first < body.results.size(); ++first) {
            Args args = bounds;
            std::vector<size_t> pending{first};
            std::vector<bool> seen(body.results.size());
            seen[first] = true;
            while (!pending.empty()) {
                const size_t k = pending.back();
                pending.pop_back();
                args.merge(of(*loop.inputs[k + 3]));
                for (const uint64_t arg : of(*body.results[k])) {
                    const auto place = places.find(arg);
                    if (place == places.end()) {
                        args.insert(arg);
                    } else if (place->second > 0 && !seen[place->second - 1]) {
                        seen[place->second - 1] = true;
                        pending.push_back(place->second - 1);
                    }
                }
            }
            out.push_back(std::move(args));
        }
        return out;
    }

    std::unordered_map<uint64_t, const Node*> owner_;  // of a region argument
    std::unordered_map<const Node*, int> depth_;       // regions around a value of the loop's body
    std::unordered_map<const Node*, Args> fewer_;      // of nodes that may need fewer than all
    std::unordered_map<const Node*, std::vector<Args>> carried_;
};

/// The replacement outside of each carried value; null for those that stay.
using Hoisted = std::vector<Ref>;

Hoisted hoisted(NodeTable& table, const Ref& loop, const std::vector<bool>& leaves) {
    const Region& body = *loop->as<LoopAttr>().body;
    Builder b{table, first_line(loop->lines)};
    Region own{{region_arg(b, i32, {})}, {}};
    std::unordered_map<const Node*, Ref> replace{{body.args[0].get(), own.args[0]}};
    std::vector<Ref> inits;
    for (size_t k = 0; k < leaves.size(); ++k) {
        if (!leaves[k]) continue;
        const Ref& arg = body.args[k + 1];
        own.args.push_back(region_arg(b, arg->dtype, arg->shape));
        note_lines(*own.args.back(), arg->lines);
        replace[arg.get()] = own.args.back();
        own.results.push_back(body.results[k]);
        inits.push_back(loop->inputs[k + 3]);
    }
    own.results = substitute(table, own.results, replace);
    const Ref made = firn::loop(b, loop->inputs[0], loop->inputs[1], loop->inputs[2],
                                std::move(inits), std::move(own), -1);
    note_lines(*made, loop->lines);
    Hoisted out(leaves.size());
    int place = 0;
    for (size_t k = 0; k < leaves.size(); ++k)
        if (leaves[k]) out[k] = result(b, made, place++);
    return out;
}

}  // namespace

Graph hoist_carried(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    Needs needs(graph);
    std::unordered_map<const Node*, Hoisted> by_loop;
    const auto visit_region = [&](const Node& node, const Ref& made) -> Ref {
        if (node.op != Op::Loop) return nullptr;
        const std::vector<bool> leaves = needs.leaves(node);
        if (leaves.empty()) return nullptr;
        if (fired) ++(*fired)["hoisted carried value"];
        by_loop[made.get()] = hoisted(table, made, leaves);
        return made;
    };
    const auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (node.op != Op::Result) return nullptr;
        const auto found = by_loop.find(inputs[0].get());
        return found == by_loop.end()
                   ? nullptr
                   : found->second[static_cast<size_t>(node.as<ResultAttr>().index)];
    };
    Graph out = graph;
    out.results = rewrite(table, graph.results, visit, {}, visit_region);
    // Loops inside the hoisted ones still carry the values that stay behind, unused there.
    return by_loop.empty() ? graph : dead_loop_values(table, out, fired);
}

}  // namespace firn
