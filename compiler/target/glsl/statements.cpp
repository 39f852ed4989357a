// The nodes of a region, in order: as statements, or as expressions where they are used.
#include "compiler/target/glsl/statements.h"

#include <algorithm>
#include <utility>

#include "compiler/target/glsl/atomics.h"
#include "compiler/target/glsl/branches.h"
#include "compiler/target/glsl/elements.h"
#include "compiler/target/glsl/expressions.h"
#include "compiler/target/glsl/inlined_loads.h"
#include "compiler/target/glsl/loops.h"
#include "compiler/target/glsl/matrices.h"
#include "compiler/target/glsl/subgroups.h"
#include "compiler/target/glsl/values.h"

namespace firn {
namespace {

constexpr size_t kLongestInlineText = 160;

void write_barrier(GlslRun& run, int indent) {
    const std::vector<KernelBuffer>& buffers = run.code.buffers;
    const bool coherent =
        std::any_of(buffers.begin(), buffers.end(), [](const auto& b) { return b.coherent; });
    line(run, indent) << (coherent ? "groupMemoryBarrier(); barrier();\n" : "barrier();\n");
}

/// Writes a node that is an expression; `loads`: its loads. If it has a single use, it is written
/// there.
void write_value(GlslRun& run, NodeId id, std::vector<NodeId> loads, int indent) {
    const KernelNode& n = run.code[id];
    std::string value = expression_text(run, n);
    const bool inlined = !n.pinned && !n.matrix && run.uses.count[id] == 1 &&
                         n.op != KernelOp::SubgroupShuffle &&
                         run.uses.asking[id] == run.uses.home[id] && width(n) == 1 &&
                         value.size() <= kLongestInlineText;
    if (!inlined) return define_value(run, id, value, indent);
    run.text[id] = std::move(value);
    if (!loads.empty()) run.loads.emplace(id, std::move(loads));
}

void write_node(GlslRun& run, NodeId id, int indent) {
    const KernelNode& n = run.code[id];
    std::vector<NodeId> loads = taken_loads(run, id);
    define_loads_before(run, n, indent);
    switch (n.op) {
        case KernelOp::For: return write_for(run, id, indent);
        case KernelOp::Branch: return write_branch(run, id, indent);
        case KernelOp::Store: return write_store(run, n, indent);
        case KernelOp::Atomic: return write_atomic(run, id, indent);
        case KernelOp::MatrixLoad:
        case KernelOp::MatrixStore: return write_matrix(run, id, indent);
        case KernelOp::Result: run.text[id] = result_text(run, n); return;
        case KernelOp::SubgroupReduce: return write_subgroup_reduce(run, id, indent);
        case KernelOp::SubgroupScan: return write_subgroup_scan(run, id, indent);
        case KernelOp::Array: return write_array(run, n, indent);
        case KernelOp::Barrier: return write_barrier(run, indent);
        default: return write_value(run, id, std::move(loads), indent);
    }
}

}  // namespace

void write_region(GlslRun& run, RegionId id, int indent) {
    auto around = std::exchange(run.loads, {});
    for (NodeId node : run.code[id].order) write_node(run, node, indent);
    for (NodeId node : run.code[id].effects) write_node(run, node, indent);
    run.loads = std::move(around);
}

}  // namespace firn
