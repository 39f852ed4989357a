// Counts the uses of a kernel's nodes, and finds the regions that use them.
#include "compiler/target/glsl/node_uses.h"

namespace firn {
namespace {

/// Marks, of `region` and those below it, the regions that a loop runs again and again.
void find_repeated(const KernelCode& code, int region, bool in_loop, std::vector<bool>& repeated) {
    repeated[region] = in_loop;
    const KernelRegion& r = code.regions[region];
    for (const std::vector<int>* list : {&r.order, &r.effects})
        for (int id : *list) {
            const KernelNode& n = code.nodes[id];
            if (n.region >= 0)
                find_repeated(code, n.region, in_loop || n.op == KernelOp::For, repeated);
            if (n.else_region >= 0) find_repeated(code, n.else_region, in_loop, repeated);
        }
}

void hold(const KernelCode& code, int id, NodeUses& uses) {
    const auto k = static_cast<size_t>(code.nodes[id].param);
    uses.held[k] = !code.on_device(code.params[k]);
}

/// Counts the uses in the nodes of `region` and in its results.
void count_region(const KernelCode& code, int region, bool repeated, NodeUses& uses) {
    const KernelRegion& r = code.regions[region];
    auto use = [&](int id) {
        ++uses.count[id];
        uses.asking[id] = region;
        if (code.nodes[id].op == KernelOp::Param && repeated) hold(code, id, uses);
    };
    auto visit = [&](int id) {
        const KernelNode& n = code.nodes[id];
        for (int arg : n.args) use(arg);
        if (n.op != KernelOp::For) return;
        const int trips = code.ranges[code.regions[n.region].range].extent_node;
        use(trips);
        if (code.nodes[trips].op == KernelOp::Param) hold(code, trips, uses);
    };
    for (int id : r.order) visit(id);
    for (int id : r.effects) visit(id);
    for (int y : r.yields) use(y);
    if (r.alive >= 0) use(r.alive);
}

}  // namespace

NodeUses uses_of(const KernelCode& code) {
    const size_t nodes = code.nodes.size();
    NodeUses uses{std::vector<int>(nodes, 0), std::vector<int>(nodes, -1),
                  std::vector<int>(nodes, -1), std::vector<bool>(code.ranges.size(), false),
                  std::vector<bool>(code.params.size(), false)};
    std::vector<bool> repeated(code.regions.size(), false);
    find_repeated(code, 0, false, repeated);
    for (size_t r = 0; r < code.regions.size(); ++r) {
        for (int id : code.regions[r].order) uses.home[id] = static_cast<int>(r);
        count_region(code, static_cast<int>(r), repeated[r], uses);
    }
    for (size_t id = 0; id < nodes; ++id)
        if (code.nodes[id].op == KernelOp::Range && uses.count[id] > 0)
            uses.range[static_cast<size_t>(code.nodes[id].range)] = true;
    return uses;
}

}  // namespace firn
