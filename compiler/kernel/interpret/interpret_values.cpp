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

void place_value(InterpretRun& run, int id) {
    if (id < 0 || run.values[id].data) return;
    const KernelCode& code = run.code;
    const KernelNode& n = code.nodes[id];
    Lanes& value = run.values[id];
    value.dtype = n.dtype;
    // Results, and lanes of vectors, are views of their operand's memory.
    if (n.op == KernelOp::Result) {
        const KernelNode& owner = code.nodes[n.args[0]];
        value.data = owner.op == KernelOp::For
                         ? run.values[code.regions[owner.region].args[n.position]].data
                         : run.results[n.args[0]][n.position].data;
        return;
    }
    if (n.op == KernelOp::Lane) {
        value.data = run.values[n.args[0]].data + static_cast<size_t>(n.lane) *
                                                      static_cast<size_t>(run.lanes) *
                                                      lane_bytes(n.dtype);
        return;
    }
    value.data = allocate(run, n.dtype, n.matrix ? matrix_parts(n.matrix, run.subgroup) : n.width);
}

/// Returns the regions that run. A region of a dead loop still has its yields, which are never
/// evaluated.
std::vector<int> live_regions(const KernelCode& code) {
    std::vector<int> live{0};
    for (size_t next = 0; next < live.size(); ++next) {
        const KernelRegion& body = code.regions[live[next]];
        for (const std::vector<int>* list : {&body.order, &body.effects})
            for (int id : *list) {
                const KernelNode& n = code.nodes[id];
                if (n.op != KernelOp::For && n.op != KernelOp::Branch) continue;
                live.push_back(n.region);
                if (n.else_region >= 0) live.push_back(n.else_region);
            }
    }
    return live;
}

/// Marks, by node, those that these regions evaluate or use.
std::vector<bool> needed_nodes(const KernelCode& code, const std::vector<int>& regions) {
    std::vector<bool> needed(code.nodes.size());
    auto need = [&](int id) {
        if (id >= 0) needed[id] = true;
    };
    for (int live : regions) {
        const KernelRegion& body = code.regions[live];
        for (const std::vector<int>* list : {&body.order, &body.effects})
            for (int id : *list) {
                need(id);
                for (int arg : code.nodes[id].args) need(arg);
            }
        for (int id : body.yields) need(id);
        need(body.alive);
        if (body.range >= 0) need(code.ranges[body.range].extent_node);
    }
    return needed;
}

void place_node(InterpretRun& run, int id) {
    const KernelNode& n = run.code.nodes[id];
    if (n.op == KernelOp::Branch)
        for (int yield : run.code.regions[n.region].yields) {
            const DType dtype = run.code.nodes[yield].dtype;
            run.results[id].push_back({dtype, allocate(run, dtype, 1)});
        }
    if ((n.op == KernelOp::Result || n.op == KernelOp::Lane) && !run.values[n.args[0]].data)
        fail(run, "%" + std::to_string(id) + " is part of %" + std::to_string(n.args[0]) +
                      ", which is not evaluated");
    if (n.op == KernelOp::Range) run.range_values.emplace_back(n.range, id);
    place_value(run, id);
}

void fill_uniforms(InterpretRun& run) {
    for (size_t id = 0; id < run.values.size(); ++id) {
        if (!run.values[id].data) continue;
        const KernelNode& n = run.code.nodes[id];
        if (n.op == KernelOp::Constant) fill_lanes(run.values[id], run.lanes, n.constant);
        if (n.op == KernelOp::Param)
            fill_lanes(run.values[id], run.lanes, run.params[n.param].to(n.dtype));
    }
}

}  // namespace

void place_values(InterpretRun& run) {
    run.values.resize(run.code.nodes.size());
    run.results.resize(run.code.nodes.size());
    // Region arguments first, then operands before users: so a view finds its owner placed.
    const std::vector<int> regions = live_regions(run.code);
    for (int live : regions)
        for (int arg : run.code.regions[live].args) place_value(run, arg);
    const std::vector<bool> needed = needed_nodes(run.code, regions);
    for (size_t id = 0; id < needed.size(); ++id)
        if (needed[id]) place_node(run, static_cast<int>(id));
    fill_uniforms(run);
}

}  // namespace firn
