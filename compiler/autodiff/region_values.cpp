// The values that bodies of loops and branches read from outside.
#include "compiler/autodiff/region_values.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/ir/regions.h"

namespace firn {

namespace {

using Nodes = std::unordered_set<const Node*>;

Nodes set_of(const std::vector<Ref>& nodes) {
    Nodes out;
    for (const Ref& node : nodes) out.insert(node.get());
    return out;
}

/// Returns the nodes that are evaluated outside of a branch: other nodes need them, or both sides.
Nodes shared_outside(const ReverseRun& run, const Node& branch) {
    std::vector<Ref> others = run.roots;
    others.push_back(branch.inputs[0]);
    Nodes out = set_of(topological(others, [&](const Node& node) { return &node == &branch; }));
    const auto& attr = branch.as<IfAttr>();
    const Nodes one_side = set_of(topological(attr.then_body->results));
    for (const Ref& node : topological(attr.else_body->results))
        if (one_side.contains(node.get())) out.insert(node.get());
    return out;
}

/// The loops of a branch and the values computed from them, operands first: their gradients stay in
/// the branch too.
std::vector<Ref> behind_loops(const ReverseRun& run, const Node& branch) {
    const Nodes shared = shared_outside(run, branch);
    std::vector<Ref> results;
    for (const Region* side : regions_of(branch))
        results.insert(results.end(), side->results.begin(), side->results.end());
    std::vector<Ref> order =
        topological(results, [&](const Node& node) { return shared.contains(&node); });
    std::erase_if(order, [&](const Ref& node) { return shared.contains(node.get()); });
    Nodes found;
    for (const Ref& node : order)
        if (node->op == Op::Loop)
            for (const Ref& arg : node->as<LoopAttr>().body->args) found.insert(arg.get());
    const auto is_found = [&](const Ref& value) { return found.contains(value.get()); };
    std::vector<Ref> out;
    for (const Ref& node : order) {
        bool depends = std::any_of(node->inputs.begin(), node->inputs.end(), is_found);
        for (const Region* region : regions_of(*node))
            depends |= std::any_of(region->results.begin(), region->results.end(), is_found);
        if (depends) found.insert(node.get());
        if (is_found(node)) out.push_back(node);
    }
    return out;
}

/// If the value repeats another one (an Expand), gives that one, so that the loop carries a sum of
/// its size. Gives the value itself where a float result of the bodies has as many elements: the
/// loop carries a cotangent of that size anyway, and need not sum over elements in each iteration.
Ref repeated_by(const Node& owner, const Ref& value) {
    const Size elements = element_count(value->shape);
    for (const Region* region : regions_of(owner))
        for (const Ref& given : region->results)
            if (given->dtype.is_float() && proved_less_equal(elements, element_count(given->shape)))
                return value;
    Ref out = value, node = value;
    while (node->op == Op::Expand || node->op == Op::Reshape || node->op == Op::Permute) {
        node = node->inputs[0];
        if (element_count(node->shape) != element_count(out->shape)) out = node;
    }
    return out;
}

}  // namespace

std::vector<Ref> active_outside(const ReverseRun& run, const Node& owner) {
    const std::vector<Ref> order =
        owner.op == Op::If ? behind_loops(run, owner) : OwnNodes(*owner.as<LoopAttr>().body).order;
    const Nodes inside = set_of(order);
    std::vector<Ref> out;
    Nodes noted;
    const auto note = [&](const Ref& read) {
        if (inside.contains(read.get()) || !read->dtype.is_float() ||
            !run.active.contains(read.get()) || read->op == Op::Loop || read->op == Op::If)
            return;
        const Ref value = repeated_by(owner, read);
        if (noted.insert(value.get()).second) out.push_back(value);
    };
    for (const Ref& node : order) {
        for (const Ref& input : node->inputs) note(input);
        for (const Region* region : regions_of(*node))
            for (const Ref& value : region->results) note(value);
    }
    for (const Region* region : regions_of(owner))
        for (const Ref& value : region->results) note(value);
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
