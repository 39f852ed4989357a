// The values of a kernel's nodes as variables: their names and types.
#include "compiler/target/glsl/values.h"

#include "compiler/target/glsl/matrices.h"
#include "compiler/target/glsl/operations.h"

namespace firn {
namespace {

std::string vector_type(DType dtype) {
    return dtype == f32 ? "vec4" : dtype == i32 ? "ivec4" : "uvec4";
}

}  // namespace

std::string value_name(NodeId id) { return "v" + std::to_string(id.number()); }

std::string branch_value(NodeId id, size_t k) { return value_name(id) + "_" + std::to_string(k); }

std::string value_type(const KernelNode& n) {
    return n.matrix ? matrix_type(n) : glsl_type(n.dtype);
}

void define_value(GlslRun& run, NodeId id, const std::string& value, int indent) {
    const KernelNode& n = run.code[id];
    run.text[id] = value_name(id);
    line(run, indent) << (width(n) == 4 ? vector_type(n.dtype) : value_type(n)) << " "
                      << run.text[id] << " = " << value << ";\n";
}

std::string result_text(const GlslRun& run, const KernelNode& n) {
    const KernelNode& owner = run.code[n.args[0]];
    const auto position = static_cast<size_t>(n.as<PositionAttr>().position);
    if (owner.op == KernelOp::For)
        return run.text[run.code[owner.as<BodyAttr>().region].args[position]];
    return branch_value(n.args[0], position);
}

}  // namespace firn
