// Counts the uses of a kernel's nodes, and finds the regions that use them.
#include "compiler/target/glsl/node_uses.h"

namespace firn {
namespace {

/// Marks, of `region` and those below it, the regions that a loop runs again and again.
void find_repeated(const KernelCode& code, RegionId region, bool in_loop,
                   ByRegion<bool>& repeated) {
    repeated[region] = in_loop;
    const KernelRegion& r = code[region];
    for (const std::vector<NodeId>* list : {&r.order, &r.effects})
        for (NodeId id : *list) {
            const KernelNode& n = code[id];
            for (RegionId inner : bodies(n))
                find_repeated(code, inner, in_loop || n.op == KernelOp::For, repeated);
        }
}

void hold(const KernelCode& code, NodeId id, NodeUses& uses) {
    const auto k = static_cast<size_t>(code[id].as<ParamAttr>().param);
    uses.held[k] = !code.on_device(code.params[k]);
}

/// Counts the uses in the nodes of `region` and in its results.
void count_region(const KernelCode& code, RegionId region, bool repeated, NodeUses& uses) {
    const KernelRegion& r = code[region];
    auto use = [&](NodeId id) {
        ++uses.count[id];
        uses.asking[id] = region;
        if (code[id].op == KernelOp::Param && repeated) hold(code, id, uses);
    };
    auto visit = [&](NodeId id) {
        const KernelNode& n = code[id];
        for (NodeId arg : n.args) use(arg);
        if (n.op != KernelOp::For) return;
        const NodeId trips = code[code[n.as<BodyAttr>().region].range].extent_node;
        use(trips);
        if (code[trips].op == KernelOp::Param) hold(code, trips, uses);
    };
    for (NodeId id : r.order) visit(id);
    for (NodeId id : r.effects) visit(id);
    for (NodeId y : r.yields) use(y);
    if (r.alive) use(r.alive);
}

}  // namespace

NodeUses uses_of(const KernelCode& code) {
    const size_t nodes = code.nodes.size();
    NodeUses uses{ByNode<int>(nodes), ByNode<RegionId>(nodes), ByNode<RegionId>(nodes),
                  ByRange<bool>(code.ranges.size()), std::vector<bool>(code.params.size())};
    ByRegion<bool> repeated(code.regions.size());
    find_repeated(code, kRoot, false, repeated);
    for (RegionId r : code.regions.ids()) {
        for (NodeId id : code[r].order) uses.home[id] = r;
        count_region(code, r, repeated[r], uses);
    }
    for (NodeId id : code.nodes.ids())
        if (const auto* range = code[id].get_if<RangeId>(); range && uses.count[id] > 0)
            uses.range[*range] = true;
    return uses;
}

}  // namespace firn
