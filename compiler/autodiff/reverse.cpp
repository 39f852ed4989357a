// The reverse sweep.
#include "compiler/autodiff/reverse.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "compiler/autodiff/active_values.h"
#include "compiler/autodiff/reduce_parts.h"
#include "compiler/autodiff/reverse_run.h"
#include "compiler/base/error.h"
#include "compiler/ir/pattern.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

/// True if a rule gives the cotangent 0 where a condition leaves the value out.
bool is_choice(const Node& cotangent) {
    return cotangent.op == Op::Select &&
           std::any_of(cotangent.inputs.begin() + 1, cotangent.inputs.end(), [](const Ref& side) {
               return constant_value(*side) == scalar_float(0, side->dtype);
           });
}

void reverse_by_rule(ReverseRun& run, const Ref& self, const Cotangent& g) {
    const std::vector<Ref> parts = cotangents_by_rule(run.b, self, g.value);
    for (size_t k = 0; k < parts.size(); ++k)
        if (parts[k])
            contribute(run, self->inputs[k + 1], parts[k], g.chosen || is_choice(*parts[k]));
}

/// Records the adjoint of a call of the host: it makes the cotangent of the input.
Ref call_of_adjoint(const Builder& b, const Node& node, const Ref& g) {
    const HostOperation& operation = *node.as<HostCallAttr>().operation;
    const auto adjoint = operation.adjoint();
    if (!adjoint) refuse_gradient(node, operation.name());
    Ref out = host_call(b, adjoint, g);
    ensure(out->shape == node.inputs[0]->shape,
           "the adjoint of a call of the host gives its input's shape");
    return out;
}

size_t number_of_results(const Node& owner) {
    return owner.op == Op::Loop ? owner.as<LoopAttr>().body->results.size()
                                : owner.as<IfAttr>().then_body->results.size();
}

void reverse_node(ReverseRun& run, const Ref& node, const Cotangent& g) {
    if (is_elementwise(node->op)) return reverse_elementwise(run, node, g);
    if (is_movement(node->op)) return reverse_movement(run, node, g);
    switch (node->op) {
        case Op::Gather: return reverse_gather(run, node, g);
        case Op::Scatter: return reverse_scatter(run, node, g);
        case Op::Reduce: return reverse_reduce(run, node, g);
        case Op::HostCall:
            return contribute(run, node->inputs[0], call_of_adjoint(run.b, *node, g.value), false);
        case Op::Ruled: return reverse_by_rule(run, node, g);
        case Op::Result: {
            std::vector<Cotangent>& all = run.results[node->inputs[0].get()];
            const auto k = static_cast<size_t>(node->as<ResultAttr>().index);
            all.resize(std::max(all.size(), number_of_results(*node->inputs[0])));
            all[k] = g;
            return;
        }
        default: refuse_gradient(*node, info(node->op).name);
    }
}

}  // namespace

void refuse_gradient(const Node& node, const std::string& why) {
    throw UserError("grad: there are no gradients through " + why + in_brackets(node.lines));
}

std::vector<Ref> cotangents_by_rule(const Builder& b, const Ref& self, const Ref& g) {
    const std::vector<Ref> inputs(self->inputs.begin() + 1, self->inputs.end());
    // The rule gets plain numbers, so that a derivative inside the rule does not come back here
    // through them.
    const Ref value = region_arg(b, self->dtype, self->shape),
              cotangent = region_arg(b, g->dtype, g->shape);
    std::vector<Ref> parts = (*self->as<RuledAttr>().rule)(value, cotangent, inputs);
    const std::string line = in_brackets(self->lines);
    if (parts.size() != inputs.size())
        throw UserError("custom_gradient: the rule gives " + std::to_string(parts.size()) +
                        " cotangents for " + std::to_string(inputs.size()) + " inputs" + line);
    for (size_t k = 0; k < parts.size(); ++k) {
        if (!parts[k]) continue;
        if (parts[k]->shape != inputs[k]->shape)
            throw UserError("custom_gradient: the rule gives cotangent " + std::to_string(k + 1) +
                            " of shape " + text(parts[k]->shape) + " for an input of shape " +
                            text(inputs[k]->shape) + line);
        parts[k] = substitute(b.table, {cast(b, parts[k], inputs[k]->dtype)},
                              {{value.get(), self}, {cotangent.get(), g}})[0];
    }
    return parts;
}

Ref zeros_like(ReverseRun& run, const Node& node) {
    return expand(run.b, constant(run.b, scalar_float(0, node.dtype)), node.shape);
}

Ref* sum_of(ReverseRun& run, const Node& value) {
    return run.sums.contains(&value) ? &run.cotangents.at(&value).value : nullptr;
}

void contribute(ReverseRun& run, const Ref& value, Ref part, bool chosen) {
    if (!run.active.contains(value.get())) return;
    if (Ref* sum = sum_of(run, *value)) {
        *sum = elementwise(run.b, Op::Add, {*sum, cast(run.b, part, (*sum)->dtype)});
        return;
    }
    auto [at, first] = run.cotangents.try_emplace(value.get());
    Cotangent& all = at->second;
    all.chosen = first ? chosen : all.chosen && chosen;
    if (first) {
        all.value = std::move(part);
        return;
    }
    const DType type = value->dtype, wide = wide_float(type);
    const auto sum = [&](const Ref& x, const Ref& y) {
        return elementwise(run.b, Op::Add, {x, y});
    };
    const bool third = all.wide != nullptr;
    if (wide != type)
        all.wide = sum(third ? all.wide : cast(run.b, all.value, wide), cast(run.b, part, wide));
    all.value = third ? cast(run.b, all.wide, type) : sum(all.value, part);
}

Ref scaled(ReverseRun& run, const Cotangent& cotangent, const Ref& factor) {
    const Ref& g = cotangent.value;
    const Ref product = elementwise(run.b, Op::Mul, {g, factor});
    if (!cotangent.chosen) return product;
    const auto known = constant_value(*factor);
    if (known && known->dtype.is_float() && std::isfinite(known->f)) return product;
    const Ref zero = constant(run.b, scalar_float(0, g->dtype));
    return elementwise(run.b, Op::Select,
                       {elementwise(run.b, Op::Equal, {g, zero}), zero, product});
}

std::vector<Ref> reverse_gradients(const Builder& b, const std::vector<Ref>& results,
                                   const std::vector<Ref>& seeds, const std::vector<Ref>& targets,
                                   const ReverseOptions& options) {
    ReverseRun run{b, options.most_tape_bytes, results, {}, {}, {}, {}};
    run.roots.insert(run.roots.end(), targets.begin(), targets.end());
    const std::vector<Ref> order = topological(results);
    run.active = active_values(order, targets);
    std::unordered_set<const Node*> ends;
    if (options.partial)
        for (const Ref& target : targets) ends.insert(target.get());
    for (size_t k = 0; k < options.sums.size(); ++k) {
        if (!options.sums[k]) continue;
        run.sums.insert(targets[k].get());
        run.cotangents[targets[k].get()] = {options.sums[k], options.chosen};
    }
    for (size_t k = 0; k < results.size(); ++k)
        contribute(run, results[k], seeds[k], options.chosen);
    for (size_t k = order.size(); k-- > 0;) {
        const Ref& node = order[k];
        run.b.line = node->lines.empty() ? b.line : node->lines[0];
        if (const auto results = run.results.find(node.get()); results != run.results.end()) {
            const std::vector<Cotangent> all = results->second;
            node->op == Op::Loop ? reverse_loop(run, node, all) : reverse_branch(run, node, all);
            continue;
        }
        const auto found = run.cotangents.find(node.get());
        if (found == run.cotangents.end() || ends.contains(node.get())) continue;
        const auto depends = [&](const Ref& input) { return run.active.contains(input.get()); };
        if (std::none_of(node->inputs.begin(), node->inputs.end(), depends)) continue;
        const Cotangent g = found->second;
        reverse_node(run, node, g);
    }
    std::vector<Ref> out;
    for (const Ref& target : targets) {
        const auto found = run.cotangents.find(target.get());
        out.push_back(found == run.cotangents.end() ? nullptr : found->second.value);
    }
    return out;
}

}  // namespace firn
