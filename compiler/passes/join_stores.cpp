// Joins stores that fill a tensor one after the other: one kernel does both, and the old elements
// are only read.
#include "compiler/ir/builder.h"
#include "compiler/ir/distinct_positions.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/use_counts.h"

namespace firn {
namespace {

/// Each position stores a value of its own, and nothing else is done.
bool replaces(const Node& node) {
    if (node.op != Op::Scatter || node.dtype.bytes() < 4)
        return false;  // words of several elements
    const ScatterAttr& attr = node.as<ScatterAttr>();
    return attr.op == ScatterOp::Last && attr.unique && !attr.by_hand && !attr.part;
}

/// The stores that a kernel by hand ends with fill its target k, and only they write to it.
bool fills(const Node& kernel, size_t k, const UseCounts& uses, const CountedBy& loops) {
    const Region& body = *kernel.as<LoopAttr>().body;
    const Node& second = *body.results[k];
    const auto plain = [&](const Node& node) {
        return node.op == Op::Scatter && node.as<ScatterAttr>().by_hand &&
               node.as<ScatterAttr>().op == ScatterOp::Last && uses.at(&node) == 1;
    };
    if (!plain(second) || !plain(*second.inputs[0])) return false;
    return second.inputs[0]->inputs[0] == body.args[k + 1] &&
           fill_in_pairs(*second.inputs[0], second, loops);
}

/// Returns a kernel whose target k, which is filled, starts empty, and which reads the old elements
/// from outside.
Ref without_entry(NodeTable& table, const Node& kernel, size_t k) {
    const Builder b{table, first_line(kernel.lines)};
    LoopAttr attr = kernel.as<LoopAttr>();
    const Ref before = kernel.inputs[k + 3], entry = attr.body->args[k + 1];
    const auto read_outside = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (node.op != Op::Gather || inputs[0] != entry) return nullptr;
        std::vector<Ref> others = inputs;
        others[0] = before;
        Ref made = remake(b, node, std::move(others), node.attr);
        note_lines(*made, node.lines);
        return made;
    };
    Region body{attr.body->args, rewrite(table, attr.body->results, read_outside)};
    attr.body = std::make_shared<Region>(with_fresh_args(table, body));
    std::vector<Ref> inputs = kernel.inputs;
    inputs[k + 3] = empty(b, before->dtype, before->shape);
    Ref made = remake(b, kernel, std::move(inputs), std::move(attr));
    note_lines(*made, kernel.lines);
    return made;
}

}  // namespace

Graph join_stores(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    const CountedBy loops = counting_loops(graph.results);
    const UseCounts uses = use_counts(graph.results);
    auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (!replaces(node) || !replaces(*node.inputs[0]) || uses.at(node.inputs[0].get()) != 1 ||
            !fill_in_pairs(*node.inputs[0], node, loops))
            return nullptr;
        Builder b{table, first_line(node.lines)};
        const ScatterAttr part{.op = ScatterOp::Last, .unique = true, .part = true};
        const std::vector<Ref>& first = inputs[0]->inputs;
        Ref made = scatter(b, empty(b, node.dtype, node.shape), first[1],
                           {first.begin() + 2, first.end()}, part);
        made = scatter(b, made, inputs[1], {inputs.begin() + 2, inputs.end()}, part);
        note_lines(*made, node.lines);
        if (fired) ++(*fired)["filled in pairs"];
        return made;
    };
    auto visit_region = [&](const Node& node, const Ref& rebuilt) -> Ref {
        if (node.op != Op::Loop || !node.as<LoopAttr>().by_hand()) return nullptr;
        Ref out = rebuilt;
        for (size_t k = 0; k < node.as<LoopAttr>().body->results.size(); ++k) {
            if (node.inputs[k + 3]->op == Op::Empty || !fills(node, k, uses, loops)) continue;
            out = without_entry(table, *out, k);
            if (fired) ++(*fired)["kernel fills in pairs"];
        }
        return out;
    };
    return {graph.args, rewrite(table, graph.results, visit, {}, visit_region), graph.guards,
            graph.data_sizes};
}

}  // namespace firn
