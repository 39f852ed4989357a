// Lets Loops carry only the elements of tensors that their iterations touch.
#include <unordered_map>

#include "compiler/ir/narrow_loop.h"
#include "compiler/passes/passes.h"

namespace firn {

Graph narrow_loops(NodeTable& table, const Graph& graph, RuleCounts* fired) {
    std::unordered_map<const Node*, std::vector<Ref>> values;
    const auto visit_region = [&](const Node& node, const Ref& made) -> Ref {
        if (node.op != Op::Loop) return nullptr;
        std::vector<Ref> narrow = narrowed_loop({table, first_line(made->lines)}, *made);
        if (narrow.empty()) return nullptr;
        if (fired) ++(*fired)["narrowed loop"];
        values[made.get()] = std::move(narrow);
        return made;
    };
    const auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        if (node.op != Op::Result) return nullptr;
        const auto found = values.find(inputs[0].get());
        return found == values.end()
                   ? nullptr
                   : found->second[static_cast<size_t>(node.as<ResultAttr>().index)];
    };
    Graph out = graph;
    out.results = rewrite(table, graph.results, visit, {}, visit_region);
    return out;
}

}  // namespace firn
