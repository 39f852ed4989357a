// Matrices that the lanes of a subgroup hold together, by GL_NV_cooperative_matrix.
#include "compiler/target/glsl/matrices.h"

#include <algorithm>

#include "compiler/target/glsl/memory.h"
#include "compiler/target/glsl/values.h"

namespace firn {

bool uses_matrices(const KernelCode& code) {
    return std::any_of(code.nodes.begin(), code.nodes.end(),
                       [](const KernelNode& n) { return is_matrix(n.op); });
}

std::set<std::string> matrix_extensions() {
    return {"GL_NV_cooperative_matrix", "GL_KHR_memory_scope_semantics",
            "GL_EXT_shader_16bit_storage", "GL_EXT_shader_explicit_arithmetic_types_float16"};
}

std::string matrix_type(const KernelNode& n) {
    return "fcoopmatNV<" + std::to_string(8 * n.dtype.bytes()) + ", gl_ScopeSubgroup, " +
           std::to_string(n.matrix.rows) + ", " + std::to_string(n.matrix.columns) + ">";
}

std::string matrix_text(const GlslRun& run, const KernelNode& n) {
    if (n.op != KernelOp::MatrixMulAdd) return matrix_type(n) + "(" + run.text[n.args[0]] + ")";
    return "coopMatMulAddNV(" + run.text[n.args[0]] + ", " + run.text[n.args[1]] + ", " +
           run.text[n.args[2]] + ")";
}

void write_matrix(GlslRun& run, NodeId id, int indent) {
    const KernelNode& n = run.code[id];
    const auto& access = n.as<AccessAttr>();
    const bool stores = n.op == KernelOp::MatrixStore;
    if (!stores) run.text[id] = value_name(id);
    if (!stores) line(run, indent) << value_type(n) << " " << run.text[id] << ";\n";
    line(run, indent) << (stores ? "coopMatStoreNV(" : "coopMatLoadNV(")
                      << run.text[stores ? n.args[2] : id] << ", "
                      << memory_name(run.code, static_cast<size_t>(access.buffer)) << ", uint("
                      << run.text[n.args[0]] << "), uint(" << run.text[n.args[1]] << "), "
                      << (access.column_major ? "true" : "false") << ");\n";
}

}  // namespace firn
