// Turns loops inside kernels into loops of kernels.
#include "compiler/passes/host_loops.h"

#include "compiler/ir/builder.h"

namespace firn {

Graph host_loops(NodeTable& table, const Graph& graph,
                 const std::unordered_set<const Node*>& loops) {
    if (loops.empty()) return graph;
    const auto visit = [](const Node&, const std::vector<Ref>&) { return Ref(); };
    const auto visit_region = [&](const Node& node, const Ref& made) -> Ref {
        if (!loops.contains(&node)) return nullptr;
        LoopAttr attr = made->as<LoopAttr>();
        attr.host = true;
        return table.intern(Op::Loop, made->dtype, made->shape, made->inputs, attr,
                            first_line(node.lines));
    };
    Graph out = graph;
    out.results = rewrite(table, out.results, visit, {}, visit_region);
    return out;
}

}  // namespace firn
