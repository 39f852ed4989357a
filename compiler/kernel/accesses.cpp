// The loads, stores and atomics of a kernel, numbered.
#include "compiler/kernel/accesses.h"

namespace firn {
namespace {

void add_accesses(const KernelCode& code, RegionId id, std::vector<NodeId>& out) {
    for (const std::vector<NodeId>* list : {&code[id].order, &code[id].effects})
        for (NodeId node : *list) {
            const KernelOp op = code[node].op;
            if (op == KernelOp::Load || op == KernelOp::Store || op == KernelOp::Atomic)
                out.push_back(node);
            for (RegionId body : bodies(code[node])) add_accesses(code, body, out);
        }
}

}  // namespace

std::vector<NodeId> accesses_of(const KernelCode& code) {
    std::vector<NodeId> out;
    add_accesses(code, kRoot, out);
    return out;
}

}  // namespace firn
