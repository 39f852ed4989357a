// What bodies of loops and branches read from outside.
#include "compiler/autodiff/region_values.h"

#include <algorithm>
#include <unordered_set>

namespace firn {

std::vector<Ref> active_outside(const ReverseRun& run, const Region& body) {
    const std::vector<Ref> order = topological(body.results);
    std::unordered_set<const Node*> inside;
    for (const Ref& arg : body.args) inside.insert(arg.get());
    for (const Ref& node : order)
        if (node->op == Op::Loop)
            for (const Ref& arg : node->as<LoopAttr>().body->args) inside.insert(arg.get());
    std::vector<Ref> out;
    const auto note = [&](const Ref& value) {
        if (inside.contains(value.get()) || !value->dtype.is_float() ||
            !run.active.contains(value.get()) || value->op == Op::Loop || value->op == Op::If)
            return;
        if (std::find(out.begin(), out.end(), value) == out.end()) out.push_back(value);
    };
    for (const Ref& node : order) {
        const auto is_inside = [&](const Ref& input) { return inside.contains(input.get()); };
        bool found = std::any_of(node->inputs.begin(), node->inputs.end(), is_inside);
        std::vector<Ref> results;
        if (node->op == Op::Loop) results = node->as<LoopAttr>().body->results;
        if (node->op == Op::If) {
            results = node->as<IfAttr>().then_body->results;
            const auto& other = node->as<IfAttr>().else_body->results;
            results.insert(results.end(), other.begin(), other.end());
        }
        found |= std::any_of(results.begin(), results.end(), is_inside);
        if (found) inside.insert(node.get());
    }
    for (const Ref& node : order) {
        if (!inside.contains(node.get())) continue;
        for (const Ref& input : node->inputs) note(input);
        if (node->op == Op::Loop)
            for (const Ref& value : node->as<LoopAttr>().body->results) note(value);
        if (node->op == Op::If)
            for (const auto& side : {node->as<IfAttr>().then_body, node->as<IfAttr>().else_body})
                for (const Ref& value : side->results) note(value);
    }
    for (const Ref& value : body.results) note(value);
    return out;
}

bool all_chosen(const std::vector<Cotangent>& results) {
    return std::all_of(results.begin(), results.end(),
                       [](const Cotangent& g) { return !g.value || g.chosen; });
}

Ref or_zeros(ReverseRun& run, const Ref& found, const Node& like) {
    return found ? found : zeros_like(run, like);
}

std::unordered_set<const Node*> inside_of_loops(const std::vector<Ref>& order) {
    std::unordered_set<uint64_t> arguments;
    for (const Ref& node : order)
        if (node->op == Op::Loop)
            for (const Ref& arg : node->as<LoopAttr>().body->args)
                arguments.insert(arg->as<RegionArgAttr>().id);
    std::unordered_set<const Node*> out;
    for (const Ref& node : order)
        if (node->free_args && std::any_of(node->free_args->begin(), node->free_args->end(),
                                           [&](uint64_t id) { return arguments.contains(id); }))
            out.insert(node.get());
    return out;
}

}  // namespace firn
