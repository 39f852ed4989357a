// The forward sweep.
#include "compiler/autodiff/forward.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/autodiff/active_values.h"
#include "compiler/autodiff/forward_run.h"
#include "compiler/autodiff/region_values.h"
#include "compiler/autodiff/reverse_run.h"
#include "compiler/base/error.h"

namespace firn {
namespace {

Ref forward_movement(ForwardRun& run, const Ref& self) {
    const Ref t = run.tangent(self->inputs[0]);
    if (!t) return nullptr;
    if (self->op != Op::Pad) return remake(run.b, *self, {t}, self->attr);
    PadAttr attr = self->as<PadAttr>();
    attr.value = scalar_float(0, self->dtype);
    return remake(run.b, *self, {t}, attr);
}

/// An operation with an adjoint is linear, and so does the same with tangents.
Ref forward_call(ForwardRun& run, const Ref& self) {
    const HostOperation& operation = *self->as<HostCallAttr>().operation;
    if (!operation.adjoint()) refuse_gradient(*self, operation.name());
    const Ref t = run.tangent(self->inputs[0]);
    return t ? remake(run.b, *self, {t}, self->attr) : nullptr;
}

Ref forward_node(ForwardRun& run, const Ref& node) {
    if (is_elementwise(node->op)) return forward_elementwise(run, node);
    if (is_movement(node->op)) return forward_movement(run, node);
    switch (node->op) {
        case Op::Gather:
        case Op::Scatter: return forward_access(run, node);
        case Op::Reduce: return forward_reduce(run, node);
        case Op::HostCall: return forward_call(run, node);
        case Op::Ruled: return forward_by_rule(run, node);
        case Op::Result: {
            const auto found = run.results.find(node->inputs[0].get());
            return found == run.results.end()
                       ? nullptr
                       : found->second[static_cast<size_t>(node->as<ResultAttr>().index)];
        }
        default: refuse_gradient(*node, info(node->op).name);
    }
}

/// The nodes that results need, without those that a rule replaces.
std::unordered_set<const Node*> outside_of_rules(const std::vector<Ref>& order,
                                                 const std::vector<Ref>& results) {
    std::unordered_set<const Node*> out;
    const auto need = [&](const std::vector<Ref>& nodes, size_t first = 0) {
        for (size_t k = first; k < nodes.size(); ++k) out.insert(nodes[k].get());
    };
    need(results);
    for (size_t k = order.size(); k-- > 0;) {
        const Node& node = *order[k];
        if (!out.contains(&node)) continue;
        need(node.inputs, node.op == Op::Ruled);
        if (node.op == Op::Loop) need(node.as<LoopAttr>().body->results);
        if (node.op == Op::If)
            for (const auto& body : {node.as<IfAttr>().then_body, node.as<IfAttr>().else_body})
                need(body->results);
    }
    return out;
}

}  // namespace

Ref ForwardRun::tangent_or_zeros(const Ref& value) const {
    const Ref found = tangent(value);
    return found ? found : expand(b, constant(b, scalar_float(0, value->dtype)), value->shape);
}

void forward_sweep(ForwardRun& run, const std::vector<Ref>& results) {
    const std::vector<Ref> order = topological(results);
    const std::unordered_set<const Node*> inside = inside_of_loops(order),
                                          needed = outside_of_rules(order, results);
    std::vector<Ref> sources;
    for (const Ref& node : order)
        if (run.tangents.contains(node.get())) sources.push_back(node);
    const std::unordered_set<const Node*> active = active_values(order, sources);
    const SourceLine line = run.b.line;
    for (const Ref& node : order) {
        if (!active.contains(node.get()) || !needed.contains(node.get()) ||
            run.tangents.contains(node.get()) || run.results.contains(node.get()) ||
            inside.contains(node.get()))
            continue;
        run.b.line = node->lines.empty() ? line : node->lines[0];
        if (node->op == Op::Loop)
            run.results[node.get()] = forward_loop(run, node);
        else if (node->op == Op::If)
            run.results[node.get()] = forward_branch(run, node);
        else if (const Ref found = forward_node(run, node))
            run.tangents[node.get()] = found;
    }
    run.b.line = line;
}

std::vector<Ref> forward_tangents(const Builder& b, const std::vector<Ref>& results,
                                  const std::vector<Ref>& inputs,
                                  const std::vector<Ref>& tangents) {
    ForwardRun run{b, {}, {}, {}};
    for (size_t k = 0; k < inputs.size(); ++k) run.tangents[inputs[k].get()] = tangents[k];
    forward_sweep(run, results);
    std::vector<Ref> out;
    for (const Ref& result : results) out.push_back(run.tangent(result));
    return out;
}

}  // namespace firn
