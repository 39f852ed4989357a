// Gives the lanes of a kernel's nodes their memory, for the host interpreter.
#include "compiler/kernel/interpret/interpret_values.h"

#include "compiler/kernel/interpret/interpret_matrix.h"

namespace firn {
namespace {

std::byte* allocate(InterpretRun& run, DType dtype, int width) {
    const size_t bytes =
        static_cast<size_t>(width) * static_cast<size_t>(run.lanes) * lane_bytes(dtype);
    // new[] of 8-byte words: aligned for every form of lanes, and zero.
    run.storage.emplace_back((bytes + 7) / 8);
    return reinterpret_cast<std::byte*>(run.storage.back().data());
}

void place_value(InterpretRun& run, NodeId id) {
    if (!id || run.values[id].data) return;
    const KernelCode& code = run.code;
    const KernelNode& n = code[id];
    Lanes& value = run.values[id];
    value.dtype = n.dtype;
    // Results, and lanes of vectors, are views of their operand's memory.
    if (n.op == KernelOp::Result) {
        const KernelNode& owner = code[n.args[0]];
        const int position = n.as<PositionAttr>().position;
        value.data = owner.op == KernelOp::For
                         ? run.values[code[owner.as<BodyAttr>().region].args[position]].data
                         : run.results[n.args[0]][position].data;
        return;
    }
    if (n.op == KernelOp::Lane) {
        value.data = run.values[n.args[0]].data + static_cast<size_t>(n.as<LaneAttr>().lane) *
                                                      static_cast<size_t>(run.lanes) *
                                                      lane_bytes(n.dtype);
        return;
    }
    value.data = allocate(run, n.dtype, n.matrix ? matrix_parts(n.matrix, run.subgroup) : width(n));
}

/// Returns the regions that run. A region of a dead loop still has its yields, which are never
/// evaluated.
std::vector<RegionId> live_regions(const KernelCode& code) {
    std::vector<RegionId> live{kRoot};
    for (size_t next = 0; next < live.size(); ++next) {
        const KernelRegion& body = code[live[next]];
        for (const std::vector<NodeId>* list : {&body.order, &body.effects})
            for (NodeId id : *list)
                for (RegionId inner : bodies(code[id])) live.push_back(inner);
    }
    return live;
}

/// Marks the nodes that these regions evaluate or use.
ByNode<bool> needed_nodes(const KernelCode& code, const std::vector<RegionId>& regions) {
    ByNode<bool> needed(code.nodes.size());
    auto need = [&](NodeId id) {
        if (id) needed[id] = true;
    };
    for (RegionId live : regions) {
        const KernelRegion& body = code[live];
        for (const std::vector<NodeId>* list : {&body.order, &body.effects})
            for (NodeId id : *list) {
                need(id);
                for (NodeId arg : code[id].args) need(arg);
            }
        for (NodeId id : body.yields) need(id);
        need(body.alive);
        if (body.range) need(code[body.range].extent_node);
    }
    return needed;
}

void place_node(InterpretRun& run, NodeId id) {
    const KernelNode& n = run.code[id];
    if (n.op == KernelOp::Branch)
        for (NodeId yield : run.code[n.as<BodyAttr>().region].yields) {
            const DType dtype = run.code[yield].dtype;
            run.results[id].push_back({dtype, allocate(run, dtype, 1)});
        }
    if ((n.op == KernelOp::Result || n.op == KernelOp::Lane) && !run.values[n.args[0]].data)
        fail(run, "%" + std::to_string(id.number()) + " is part of %" +
                      std::to_string(n.args[0].number()) + ", which is not evaluated");
    if (n.op == KernelOp::Range) run.range_values.emplace_back(n.as<RangeId>(), id);
    place_value(run, id);
}

void fill_uniforms(InterpretRun& run) {
    for (NodeId id : run.values.ids()) {
        if (!run.values[id].data) continue;
        const KernelNode& n = run.code[id];
        if (n.op == KernelOp::Constant) fill_lanes(run.values[id], run.lanes, n.as<Scalar>());
        if (n.op == KernelOp::Param)
            fill_lanes(run.values[id], run.lanes, run.params[n.as<ParamAttr>().param].to(n.dtype));
    }
}

}  // namespace

void place_values(InterpretRun& run) {
    run.values.resize(run.code.nodes.size());
    run.results.resize(run.code.nodes.size());
    // Region arguments first, then operands before users: so a view finds its owner placed.
    const std::vector<RegionId> regions = live_regions(run.code);
    for (RegionId live : regions)
        for (NodeId arg : run.code[live].args) place_value(run, arg);
    const ByNode<bool> needed = needed_nodes(run.code, regions);
    for (NodeId id : needed.ids())
        if (needed[id]) place_node(run, id);
    fill_uniforms(run);
}

}  // namespace firn
