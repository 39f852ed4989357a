// What the lanes of a subgroup give one another.
#include "compiler/codegen/subgroups.h"

#include "compiler/codegen/expressions.h"
#include "compiler/codegen/operations.h"
#include "compiler/codegen/values.h"
#include "compiler/ir/builder.h"

namespace firn {
namespace {

/// Lanes of a subgroup, where the kernel says it: a tree without a loop.
int64_t lane_count(const KernelCode& code) {
    for (const Range& range : code.ranges)
        if (range.kind == RangeKind::Subgroup && range.dim == 0) return range.extent.constant();
    return 0;
}

}  // namespace

std::string shuffle_text(GlslRun& run, const KernelNode& n) {
    run.subgroups = true;
    if (n.op == KernelOp::SubgroupShuffle)
        return "subgroupShuffle(" + run.text[n.args[0]] + ", " + std::to_string(n.lane) + "u)";
    return "subgroupShuffle(" + run.text[n.args[0]] + ", uint(" + run.text[n.args[1]] + ") % " +
           std::to_string(lane_count(run.code)) + "u)";
}

void write_subgroup_reduce(GlslRun& run, int id, int indent) {
    const KernelNode& n = run.code.nodes[id];
    run.subgroups = true;
    const std::string v = value_name(id);
    define_value(run, id, run.text[n.args[0]], indent);
    auto exchange = [&](const std::string& distance) {
        return v + " = " +
               combined_text(run, kernel_op(reduce_step(n.reduce)), n.dtype, v,
                             "subgroupShuffleXor(" + v + ", " + distance + ")") +
               ";\n";
    };
    if (const int64_t lanes = lane_count(run.code); lanes > 0)
        for (int64_t s = lanes / 2; s > 0; s /= 2)
            line(run, indent) << exchange(std::to_string(s) + "u");
    else
        line(run, indent) << "for (uint s = gl_SubgroupSize / 2u; s > 0u; s /= 2u) "
                          << exchange("s");
}

void write_subgroup_scan(GlslRun& run, int id, int indent) {
    const KernelNode& n = run.code.nodes[id];
    run.subgroups = true;
    const std::string v = value_name(id), type = glsl_type(n.dtype),
                      other = "u" + std::to_string(id);
    define_value(run, id, run.text[n.args[0]], indent);
    for (int64_t s = 1; s < lane_count(run.code); s *= 2) {
        const std::string distance = std::to_string(s) + "u";
        const std::string both =
            combined_text(run, kernel_op(reduce_step(n.reduce)), n.dtype, other, v);
        line(run, indent) << "{ " << type << " " << other << " = subgroupShuffle(" << v
                          << ", max(gl_SubgroupInvocationID, " << distance << ") - " << distance
                          << "); if (gl_SubgroupInvocationID >= " << distance << ") " << v << " = "
                          << both << "; }\n";
    }
}

}  // namespace firn
