// Masked lockstep written out: what a Loop does to elements that left becomes Selects in its body.
#include "compiler/ir/builder.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/pattern.h"

namespace firn {
namespace {

bool is_mask(const Node& node, const Ref& mask) {
    return &node == mask.get() || (node.op == Op::Expand && node.inputs[0] == mask);
}

/// `node` is never true where `mask` is false, as its first operations show.
bool implies(const Ref& node, const Ref& mask, int depth = 8) {
    if (node == mask) return true;
    if (auto value = constant_value(*node)) return value->i == 0;
    if (depth == 0) return false;
    if (node->op == Op::And)
        return implies(node->inputs[0], mask, depth - 1) ||
               implies(node->inputs[1], mask, depth - 1);
    return node->op == Op::Select && implies(node->inputs[1], mask, depth - 1) &&
           implies(node->inputs[2], mask, depth - 1);
}

bool is_frozen(const Ref& next, const Ref& arg, const Ref& mask) {
    if (next == arg) return true;
    if (arg == mask) return implies(next, mask);
    return next->op == Op::Select && is_mask(*next->inputs[0], mask) && next->inputs[2] == arg;
}

}  // namespace

Graph freeze_inactive(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    auto visit = [](const Node&, const std::vector<Ref>&) { return Ref(); };
    auto visit_region = [&](const Node& node, const Ref& rebuilt) -> Ref {
        if (node.op != Op::Loop || node.as<LoopAttr>().active < 0) return nullptr;
        const auto& attr = rebuilt->as<LoopAttr>();
        Region body = *attr.body;
        Ref mask = body.args[static_cast<size_t>(attr.active) + 1];
        Builder b{table, node.lines.empty() ? SourceLine{} : node.lines[0]};
        bool changed = false;
        for (size_t k = 0; k < body.results.size(); ++k) {
            const Ref& arg = body.args[k + 1];
            if (is_frozen(body.results[k], arg, mask)) continue;
            body.results[k] = arg == mask
                                  ? elementwise(b, Op::And, {mask, body.results[k]})
                                  : elementwise(b, Op::Select, {mask, body.results[k], arg});
            changed = true;
            if (fired) ++(*fired)["freeze inactive elements"];
        }
        if (!changed) return nullptr;
        Attr made = LoopAttr{std::make_shared<Region>(with_fresh_args(table, body)), attr.active};
        Ref loop = remake(b, *rebuilt, rebuilt->inputs, made);
        note_lines(*loop, node.lines);
        return loop;
    };
    return {graph.args, rewrite(table, graph.results, visit, {}, visit_region), graph.guards};
}

}  // namespace firn
