// Results of a program that are only reshapes of values in memory.
#include "compiler/passes/passes.h"

namespace firn {

Graph drop_last_reshapes(const Graph& graph) {
    Graph out = graph;
    for (Ref& result : out.results) {
        const Node* at = result.get();
        while (at->op == Op::Reshape) at = at->inputs[0].get();
        if (at->op != Op::Result && at->op != Op::Scatter && at->op != Op::Reduce) continue;
        while (result->op == Op::Reshape) result = Ref(result->inputs[0]);
    }
    return out;
}

}  // namespace firn
