// Counts the uses of a graph's values.
#include "compiler/passes/use_counts.h"

namespace firn {

UseCounts use_counts(const std::vector<Ref>& results) {
    UseCounts out;
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

}  // namespace firn
