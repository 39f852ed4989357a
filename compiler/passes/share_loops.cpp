// A loop does what another one does besides.
#include <algorithm>
#include <unordered_map>

#include "compiler/ir/builder.h"
#include "compiler/passes/passes.h"

namespace firn {
namespace {

/// `whole` has the bounds of `part`, and carries from the same beginnings what it carries, first.
bool begins_as(const Node& whole, const Node& part) {
    const LoopAttr &a = whole.as<LoopAttr>(), &b = part.as<LoopAttr>();
    return !a.by_hand() && !b.by_hand() && a.sizes.empty() && b.sizes.empty() &&
           a.active == b.active && a.must_end == b.must_end && a.host == b.host &&
           a.open == b.open && whole.inputs.size() >= part.inputs.size() &&
           std::equal(part.inputs.begin(), part.inputs.end(), whole.inputs.begin());
}

bool needs_the_same_args(const Node& a, const Node& b) {
    const std::vector<uint64_t> none;
    return (a.free_args ? *a.free_args : none) == (b.free_args ? *b.free_args : none);
}

bool depends_on(const Ref& node, const Ref& other) {
    const std::vector<Ref> below = topological({node});
    return std::find(below.begin(), below.end(), other) != below.end();
}

/// Its iterations make the same of that.
bool goes_on_as(NodeTable& table, const Node& whole, const Node& part) {
    const Region &a = *whole.as<LoopAttr>().body, &b = *part.as<LoopAttr>().body;
    std::unordered_map<const Node*, Ref> args;
    for (size_t k = 0; k < b.args.size(); ++k) {
        if (a.args[k]->shape != b.args[k]->shape || a.args[k]->dtype != b.args[k]->dtype)
            return false;
        args[b.args[k].get()] = a.args[k];
    }
    const std::vector<Ref> made = substitute(table, b.results, args);
    return std::equal(made.begin(), made.end(), a.results.begin());
}

/// The loops of which another one does as much, and that one: of equal ones the first.
std::unordered_map<const Node*, Ref> loops_done_by_others(NodeTable& table,
                                                          const std::vector<Ref>& order) {
    std::vector<Ref> loops;
    for (const Ref& node : order)
        if (node->op == Op::Loop) loops.push_back(node);
    std::unordered_map<const Node*, Ref> shared;
    for (size_t p = 0; p < loops.size(); ++p)
        for (size_t w = 0; w < loops.size(); ++w) {
            const Ref &part = loops[p], &whole = loops[w];
            const bool comes_first = w < p || whole->inputs.size() > part->inputs.size();
            if (w == p || !comes_first || !begins_as(*whole, *part) ||
                !needs_the_same_args(*whole, *part) || shared.contains(whole.get()) ||
                !goes_on_as(table, *whole, *part) || depends_on(whole, part))
                continue;
            shared[part.get()] = whole;
            break;
        }
    return shared;
}

}  // namespace

Graph share_loops(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    Graph out = graph;
    // What is made of equal loops may be loops that are equal then.
    for (;;) {
        const std::vector<Ref> order = topological(out.results);
        const auto shared = loops_done_by_others(table, order);
        if (shared.empty()) return out;
        std::unordered_map<const Node*, Ref> results;
        for (const Ref& node : order) {
            if (node->op != Op::Result) continue;
            const auto loop = shared.find(node->inputs[0].get());
            if (loop == shared.end()) continue;
            const Builder b{table, first_line(node->lines)};
            results[node.get()] = result(b, loop->second, node->as<ResultAttr>().index);
        }
        if (fired) (*fired)["a loop that does more"] += static_cast<int>(shared.size());
        out.results = substitute(table, out.results, results);
    }
}

}  // namespace firn
