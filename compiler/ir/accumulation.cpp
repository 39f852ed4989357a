// Values that are written position by position.
#include "compiler/ir/accumulation.h"

#include "compiler/ir/affine_index.h"

namespace firn {

std::vector<const Node*> accumulation(const Node& loop, size_t k) {
    if (loop.as<LoopAttr>().by_hand()) return {};
    const Region& body = *loop.as<LoopAttr>().body;
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

namespace {

/// A version whose parts are stored by one kernel.
Written parts_of(const Node& node) {
    Written out;
    Ref target;
    for (const Node* at = &node; at->op == Op::Scatter && at->as<ScatterAttr>().part;
         at = target.get()) {
        out.scatters.push_back(at);
        target = at->inputs[0];
    }
    out.target = std::move(target);
    return out;
}

}  // namespace

Written written(const Node& node, const std::unordered_set<const Node*>& host_loops) {
    if (node.op == Op::Scatter && node.as<ScatterAttr>().part) return parts_of(node);
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
