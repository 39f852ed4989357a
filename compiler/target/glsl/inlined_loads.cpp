// Delays the loads of inlined values, and finds stores that may overwrite their elements meanwhile.
#include "compiler/target/glsl/inlined_loads.h"

#include <algorithm>

#include "compiler/target/glsl/values.h"

namespace firn {
namespace {

/// Effects that loads do not wait for.
bool comes_after(const KernelCode& code, const KernelNode& n) {
    return code.loads_first && code.in_order &&
           (n.op == KernelOp::Store || n.op == KernelOp::Atomic);
}

bool may_store_over(const KernelCode& code, const KernelNode& n, const KernelNode& load) {
    const int read = code.buffers[load.as<AccessAttr>().buffer].buffer;
    const auto written = [&](const KernelBuffer& b) { return b.written && b.buffer == read; };
    const auto inside = [&](RegionId region) {
        const KernelRegion& r = code[region];
        const auto stores = [&](NodeId id) { return may_store_over(code, code[id], load); };
        return std::any_of(r.order.begin(), r.order.end(), stores) ||
               std::any_of(r.effects.begin(), r.effects.end(), stores);
    };
    const Bodies inner = bodies(n);
    switch (n.op) {
        case KernelOp::Store:
        case KernelOp::Atomic:
        case KernelOp::MatrixStore:
            // A result may take the memory of a donated argument, element by element.
            return code.buffers[n.as<AccessAttr>().buffer].buffer == read ||
                   (n.args[0] == load.args[0] && width(n) == width(load));
        case KernelOp::Barrier:
            return std::any_of(code.buffers.begin(), code.buffers.end(), written);
        default: return std::any_of(inner.begin(), inner.end(), inside);
    }
}

}  // namespace

std::vector<NodeId> taken_loads(GlslRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    std::vector<NodeId> loads;
    if (n.op == KernelOp::Load) loads.push_back(id);
    for (NodeId arg : n.args)
        if (auto inlined = run.loads.extract(arg))
            loads.insert(loads.end(), inlined.mapped().begin(), inlined.mapped().end());
    return loads;
}

void define_loads_before(GlslRun& run, const KernelNode& n, int indent) {
    for (auto at = run.loads.begin(); at != run.loads.end();) {
        const auto& [id, loads] = *at;
        const auto changed = [&](NodeId load) {
            return comes_after(run.code, n) || may_store_over(run.code, n, run.code[load]);
        };
        if (std::none_of(loads.begin(), loads.end(), changed)) {
            ++at;
            continue;
        }
        define_value(run, id, std::string(run.text[id]), indent);
        at = run.loads.erase(at);
    }
}

}  // namespace firn
