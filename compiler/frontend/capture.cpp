// Captured tensors keep the value they had when the function was compiled.
#include "compiler/frontend/capture.h"

#include "compiler/frontend/history.h"
#include "compiler/frontend/run_graph.h"

namespace firn {

Ref capture(SessionState& session, const std::shared_ptr<Slot>& slot, const Ref& node,
            size_t depth) {
    const Node* base = node.get();
    while (is_movement(base->op)) base = base->inputs[0].get();
    if (base->op == Op::Constant || node->op == Op::Buffer) return node;
    SourceLine line = first_line(node->lines);
    if (depth != 1)
        fail_at(line,
                "compile: a tensor that is still being recorded outside is used inside the "
                "function; pass it as "
                "an argument, or compile the function before");
    take_buffer(session, slot, realize_nodes(session, {node}, line)[0], line);
    return slot->node;
}

}  // namespace firn
