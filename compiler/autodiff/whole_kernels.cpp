// Kernels by hand as operations on whole tensors.
#include "compiler/autodiff/whole_kernels.h"

#include <unordered_map>

#include "compiler/ir/by_hand.h"

namespace firn {
namespace {

/// Keeps the values that the kernel's own nodes read from outside, including results of other
/// kernels.
void keep_outside(const Node& kernel, std::unordered_map<const Node*, Ref>& replace) {
    const OwnNodes own(*kernel.as<LoopAttr>().body);
    const auto keep = [&](const std::vector<Ref>& nodes) {
        for (const Ref& node : nodes)
            if (!own.contains(*node)) replace.emplace(node.get(), node);
    };
    keep(kernel.as<LoopAttr>().body->results);
    for (const Ref& node : own.order) {
        keep(node->inputs);
        for (const Region* region : regions_of(*node)) keep(region->results);
    }
}

}  // namespace

std::vector<Ref> whole_kernel(const Builder& b, const Node& kernel, bool ordered,
                              RefuseKernel refuse) {
    if (ordered)
        if (const Node* store = colliding_store(kernel))
            refuse(*store,
                   "a store of a kernel where other invocations may store too: let each store at a "
                   "place of its own, such as its index, or combine by an atomic");
    const Region& body = *kernel.as<LoopAttr>().body;
    std::unordered_map<const Node*, Ref> replace;
    for (size_t k = 1; k < body.args.size(); ++k)
        replace.emplace(body.args[k].get(), kernel.inputs[k + 2]);
    keep_outside(kernel, replace);
    const auto visit = [&](const Node& node, const std::vector<Ref>& inputs) -> Ref {
        const Builder at{b.table, node.lines.empty() ? b.line : node.lines[0]};
        switch (node.op) {
            case Op::Invocation: return index(at, node.shape, node.as<IndexAttr>().axis);
            case Op::Array:
                return expand(at, constant(at, scalar_int(0).to(node.dtype)), node.shape);
            case Op::Barrier: return inputs[0];
            case Op::Gather: {
                GatherAttr attr = node.as<GatherAttr>();
                if (!attr.own) return nullptr;
                attr.own = false;
                return remake(at, node, inputs, attr);
            }
            case Op::Scatter: {
                ScatterAttr attr = node.as<ScatterAttr>();
                if (!attr.by_hand) return nullptr;
                attr.by_hand = false;
                attr.unique = ordered && attr.op == ScatterOp::Last;
                return remake(at, node, inputs, attr);
            }
            case Op::Fetched: refuse(node, "atomics of which the value before is used"); break;
            case Op::Subgroup: refuse(node, "kernels whose lanes exchange values"); break;
            default: break;
        }
        return nullptr;
    };
    return rewrite(b.table, body.results, visit, replace);
}

}  // namespace firn
