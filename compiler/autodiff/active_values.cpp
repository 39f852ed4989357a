// Finds the nodes that depend on the targets of a derivative.
#include "compiler/autodiff/active_values.h"

#include <algorithm>

namespace firn {

std::unordered_set<const Node*> active_values(const std::vector<Ref>& order,
                                              const std::vector<Ref>& targets) {
    std::unordered_set<const Node*> active;
    for (const Ref& target : targets) active.insert(target.get());
    for (const Ref& node : order) {
        const auto depends = [&](const Ref& input) { return active.contains(input.get()); };
        // A rule stands for what the value is made from.
        const auto first = node->inputs.begin() + (node->op == Op::Ruled);
        bool found = std::any_of(first, node->inputs.end(), depends);
        if (node->op == Op::Loop) {
            const Region& body = *node->as<LoopAttr>().body;
            found |= std::any_of(body.results.begin(), body.results.end(), depends);
        }
        if (node->op == Op::If)
            for (const auto& body : {node->as<IfAttr>().then_body, node->as<IfAttr>().else_body})
                found |= std::any_of(body->results.begin(), body->results.end(), depends);
        const bool regions = node->op == Op::Loop || node->op == Op::If;
        if (found && (regions || node->dtype.is_float())) active.insert(node.get());
    }
    return active;
}

}  // namespace firn
