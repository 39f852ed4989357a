// Writes the exchanges between the lanes of a subgroup.
#include "compiler/target/glsl/subgroups.h"

#include "compiler/ir/builder.h"
#include "compiler/target/glsl/expressions.h"
#include "compiler/target/glsl/operations.h"
#include "compiler/target/glsl/values.h"

namespace firn {
namespace {

std::string lane_count(const GlslRun& run) {
    return std::to_string(run.profile.subgroup_size) + "u";
}

}  // namespace

std::string index_by_subgroups(const GlslRun& run, int dim) {
    const std::array<uint32_t, 3>& group = run.code.group_size;
    const uint32_t in_row = group[0] / run.profile.subgroup_size;
    ensure(group[0] % run.profile.subgroup_size == 0 && group[2] == 1,
           "lanes exchange values in rows that are no whole subgroups");
    const std::string divisor = std::to_string(in_row) + "u";
    if (dim > 0) return in_row == 1 ? "int(gl_SubgroupID)" : "int(gl_SubgroupID / " + divisor + ")";
    if (in_row == 1) return "int(gl_SubgroupInvocationID)";
    return "int(gl_SubgroupID % " + divisor + " * " + lane_count(run) +
           " + gl_SubgroupInvocationID)";
}

std::string shuffle_text(GlslRun& run, const KernelNode& n) {
    if (n.op == KernelOp::SubgroupShuffle)
        return "subgroupShuffle(" + run.text[n.args[0]] + ", " +
               std::to_string(n.as<LaneAttr>().lane) + "u)";
    return "subgroupShuffle(" + run.text[n.args[0]] + ", uint(" + run.text[n.args[1]] + ") % " +
           lane_count(run) + ")";
}

void write_subgroup_reduce(GlslRun& run, NodeId id, int indent) {
    const KernelNode& n = run.code[id];
    const std::string v = value_name(id);
    define_value(run, id, run.text[n.args[0]], indent);
    auto exchange = [&](const std::string& distance) {
        return v + " = " +
               combined_text(run, kernel_op(reduce_step(n.as<ReduceOp>())), n.dtype, v,
                             "subgroupShuffleXor(" + v + ", " + distance + ")") +
               ";\n";
    };
    for (uint32_t s = run.profile.subgroup_size / 2; s > 0; s /= 2)
        line(run, indent) << exchange(std::to_string(s) + "u");
}

void write_subgroup_scan(GlslRun& run, NodeId id, int indent) {
    const KernelNode& n = run.code[id];
    const std::string v = value_name(id), type = glsl_type(n.dtype),
                      other = "u" + std::to_string(id.number());
    define_value(run, id, run.text[n.args[0]], indent);
    for (uint32_t s = 1; s < run.profile.subgroup_size; s *= 2) {
        const std::string distance = std::to_string(s) + "u";
        const std::string both =
            combined_text(run, kernel_op(reduce_step(n.as<ReduceOp>())), n.dtype, other, v);
        line(run, indent) << "{ " << type << " " << other << " = subgroupShuffle(" << v
                          << ", max(gl_SubgroupInvocationID, " << distance << ") - " << distance
                          << "); if (gl_SubgroupInvocationID >= " << distance << ") " << v << " = "
                          << both << "; }\n";
    }
}

}  // namespace firn
