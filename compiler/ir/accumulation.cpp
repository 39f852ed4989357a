// Values that are written position by position.
#include "compiler/ir/accumulation.h"

#include <algorithm>

#include "compiler/ir/affine_index.h"

namespace firn {
namespace {

/// The number of the loop's iteration, or that and a constant, for all elements.
bool counts_iterations(const Region& body, const Node& index) {
    const Node* at = &index;
    while (at->op == Op::Expand || at->op == Op::Reshape ||
           (at->op == Op::Add && without_expand(*at->inputs[1]).op == Op::Constant))
        at = at->inputs[0].get();
    return at == body.args[0].get();
}

/// Stores in places that no other iteration stores to: one index counts iterations.
bool stores_by_iteration(const Region& body, const Node& store) {
    const ScatterAttr& attr = store.as<ScatterAttr>();
    if (attr.op != ScatterOp::Last || !attr.unique || attr.by_hand || attr.part) return false;
    return std::any_of(store.inputs.begin() + 2, store.inputs.end(),
                       [&](const Ref& at) { return counts_iterations(body, *at); });
}

}  // namespace

std::vector<const Node*> accumulation(const Node& loop, size_t k) {
    if (loop.as<LoopAttr>().by_hand()) return {};
    const Region& body = *loop.as<LoopAttr>().body;
    const Node& last = *body.results[k];
    // An element that broke off would store no more.
    if (loop.as<LoopAttr>().active < 0 && last.op == Op::Scatter &&
        last.inputs[0] == body.args[k + 1] && stores_by_iteration(body, last))
        return {&last};
    std::vector<const Node*> chain;
    const Node* at = body.results[k].get();
    for (; at->op == Op::Scatter; at = at->inputs[0].get()) {
        const ScatterOp op = at->as<ScatterAttr>().op;
        if (op == ScatterOp::Last || at->as<ScatterAttr>().by_hand ||
            (!chain.empty() && op != chain[0]->as<ScatterAttr>().op))
            return {};
        chain.push_back(at);
    }
    if (at != body.args[k + 1].get()) return {};
    return chain;
}

bool is_part(const Node& node) { return node.op == Op::Scatter && node.as<ScatterAttr>().part; }

namespace {

/// Returns the parts of a version that one kernel stores.
Written parts_of(const Node& node) {
    Written out;
    Ref target;
    for (const Node* at = &node; is_part(*at); at = target.get()) {
        out.scatters.push_back(at);
        target = at->inputs[0];
    }
    out.target = std::move(target);
    return out;
}

}  // namespace

Written written(const Node& node, const std::unordered_set<const Node*>& host_loops) {
    if (is_part(node)) return parts_of(node);
    if (is_scattering(node)) return {{&node}, node.inputs[0]};
    if (node.op != Op::Result || node.inputs[0]->op != Op::Loop) return {};
    const Node& loop = *node.inputs[0];
    const size_t k = static_cast<size_t>(node.as<ResultAttr>().index);
    if (host_loops.contains(&loop)) return {};
    std::vector<const Node*> chain = accumulation(loop, k);
    if (chain.empty()) return {};
    return {std::move(chain), loop.inputs[k + 3], &loop};
}

}  // namespace firn
