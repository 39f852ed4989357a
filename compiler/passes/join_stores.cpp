// Stores that fill a tensor together, one after the other: one kernel does both.
#include <unordered_map>

#include "compiler/ir/builder.h"
#include "compiler/ir/distinct_positions.h"
#include "compiler/passes/passes.h"

namespace firn {
namespace {

using Uses = std::unordered_map<const Node*, int>;

Uses count_uses(const std::vector<Ref>& results) {
    Uses out;
    const auto use = [&](const std::vector<Ref>& values) {
        for (const Ref& value : values) ++out[value.get()];
    };
    for (const Ref& node : topological(results)) {
        use(node->inputs);
        if (node->op == Op::Loop) use(node->as<LoopAttr>().body->results);
        if (node->op == Op::If)
            for (const auto& body : {node->as<IfAttr>().then_body, node->as<IfAttr>().else_body})
                use(body->results);
    }
    use(results);
    return out;
}

/// Each position stores a value of its own, and nothing else is done.
bool replaces(const Node& node) {
    if (node.op != Op::Scatter || node.dtype.bytes() < 4)
        return false;  // words of several elements
    const ScatterAttr& attr = node.as<ScatterAttr>();
    return attr.op == ScatterOp::Last && attr.unique && !attr.by_hand && !attr.part;
}

}  // namespace

Graph join_stores(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    const CountedBy loops = counting_loops(graph.results);
    const Uses uses = count_uses(graph.results);
    auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (!replaces(node) || !replaces(*node.inputs[0]) || uses.at(node.inputs[0].get()) != 1 ||
            !fill_in_pairs(*node.inputs[0], node, loops))
            return nullptr;
        Builder b{table, node.lines.empty() ? SourceLine{} : node.lines[0]};
        const ScatterAttr part{.op = ScatterOp::Last, .unique = true, .part = true};
        const std::vector<Ref>& first = inputs[0]->inputs;
        Ref made = scatter(b, empty(b, node.dtype, node.shape), first[1],
                           {first.begin() + 2, first.end()}, part);
        made = scatter(b, made, inputs[1], {inputs.begin() + 2, inputs.end()}, part);
        note_lines(*made, node.lines);
        if (fired) ++(*fired)["filled in pairs"];
        return made;
    };
    return {graph.args, rewrite(table, graph.results, visit), graph.guards, graph.data_sizes};
}

}  // namespace firn
