// Writes the text before the functions of a kernel: version, extensions, group size, buffers and
// parameters.
#include "compiler/target/glsl/declarations.h"

#include <algorithm>
#include <ostream>

#include "compiler/kernel/bindings.h"
#include "compiler/target/glsl/device_needs.h"
#include "compiler/target/glsl/glsl.h"
#include "compiler/target/glsl/matrices.h"
#include "compiler/target/glsl/memory.h"
#include "compiler/target/glsl/operations.h"

namespace firn {
namespace {

std::set<std::string> extensions(const GlslRun& run) {
    const KernelCode& code = run.code;
    std::set<std::string> out;
    std::set<Type> types;
    for (const KernelNode& n : code.nodes) types.insert(n.dtype.type);
    for (const KernelBuffer& b : code.buffers) types.insert(b.dtype.type);
    for (Type t : types)
        for (const std::string& e : required_extensions(DType{t})) out.insert(e);
    if (keeps_special_floats(code, run.profile)) out.insert("GL_EXT_spirv_intrinsics");
    if (run.loop_attributes) out.insert("GL_EXT_control_flow_attributes");
    if (std::any_of(code.buffers.begin(), code.buffers.end(), is_addressed)) {
        out.insert("GL_EXT_buffer_reference");
        out.insert("GL_EXT_buffer_reference_uvec2");
    }
    if (run.float_atomics) out.insert("GL_EXT_shader_atomic_float");
    if (run.wide_atomics) out.insert("GL_EXT_shader_atomic_int64");
    if (uses_matrices(code)) out.merge(matrix_extensions());
    if (uses_lanes(code)) {
        out.insert("GL_KHR_shader_subgroup_basic");
        out.insert("GL_KHR_shader_subgroup_shuffle");
    }
    return out;
}

void declare_params(std::ostream& out, const GlslRun& run) {
    const KernelCode& code = run.code;
    if (param_types(code).empty()) return;
    if (needs_param_buffer(code, run.profile))
        out << "layout(set = 0, binding = " << bound_buffers(code) << ", std140) uniform Params {";
    else
        out << "layout(push_constant) uniform Params {";
    for (size_t k = 0; k < code.params.size(); ++k) {
        const DType dtype = code.params[k].dtype;
        if (!code.on_device(code.params[k]))
            out << " " << (dtype.is_bool() ? "uint" : glsl_type(dtype)) << " p" << k << ";";
    }
    for (size_t k = 0; k < code.buffers.size(); ++k)
        if (is_addressed(code.buffers[k])) out << " uvec2 a" << k << ";";
    out << " };\n";
}

}  // namespace

void declare_kernel(std::ostream& out, const GlslRun& run) {
    const KernelCode& code = run.code;
    out << "#version 460\n";
    if (uses_matrices(code)) out << "#pragma use_vulkan_memory_model\n";
    for (const std::string& e : extensions(run)) out << "#extension " << e << " : require\n";
    if (keeps_special_floats(code, run.profile)) {
        std::vector<DType> types;
        for (const KernelNode& n : code.nodes) types.push_back(n.dtype);
        out << special_floats_glsl(types);
    }
    out << "layout(local_size_x = " << run.launched[0] << ", local_size_y = " << run.launched[1]
        << ", local_size_z = " << run.launched[2] << ") in;\n";
    for (size_t k = 0; k < code.buffers.size(); ++k) declare_memory(out, code, k, run.profile);
    declare_params(out, run);
}

}  // namespace firn
