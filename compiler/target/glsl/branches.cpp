// Branches of a kernel and the values that they give.
#include "compiler/target/glsl/branches.h"

#include "compiler/target/class_rules.h"
#include "compiler/target/glsl/operations.h"
#include "compiler/target/glsl/statements.h"
#include "compiler/target/glsl/values.h"

namespace firn {
namespace {

/// Writes one side of branch `id`, with its results.
void write_side(GlslRun& run, NodeId id, RegionId region, int indent) {
    write_region(run, region, indent);
    const KernelRegion& r = run.code[region];
    for (size_t k = 0; k < r.yields.size(); ++k)
        line(run, indent) << branch_value(id, k) << " = " << run.text[r.yields[k]] << ";\n";
}

}  // namespace

void write_branch(GlslRun& run, NodeId id, int indent) {
    const KernelNode& n = run.code[id];
    const auto& sides = n.as<BodyAttr>();
    const std::vector<NodeId>& yields = run.code[sides.region].yields;
    for (size_t k = 0; k < yields.size(); ++k)
        line(run, indent) << glsl_type(run.code[yields[k]].dtype) << " " << branch_value(id, k)
                          << ";\n";
    // A side that is never taken is left out: compilers refuse constant indices outside there, too.
    if (const KernelNode& test = run.code[n.args[0]]; test.op == KernelOp::Constant) {
        const RegionId taken = test.as<Scalar>().i ? sides.region : sides.else_region;
        if (!taken) return;
        line(run, indent) << "{\n";
        write_side(run, id, taken, indent + 1);
        line(run, indent) << "}\n";
        return;
    }
    std::string condition = run.text[n.args[0]];
    // Lanes of a CPU driver take both sides one after the other; some search all ways through a
    // kernel, and each `else` doubles their number.
    const bool apart = sides.else_region && rules_of(run.profile).dislikes_else;
    if (apart && !is_plain(condition)) {
        const std::string name = "c" + std::to_string(id.number());
        line(run, indent) << "bool " << name << " = " << condition << ";\n";
        condition = name;
    }
    line(run, indent) << "if (" << condition << ") {\n";
    write_side(run, id, sides.region, indent + 1);
    if (sides.else_region) {
        line(run, indent) << (apart ? "}\n" : "} else {\n");
        if (apart) line(run, indent) << "if (!" << condition << ") {\n";
        write_side(run, id, sides.else_region, indent + 1);
    }
    line(run, indent) << "}\n";
}

}  // namespace firn
