// Programs with kernels in hand-written GLSL.
#include "tests/bench/hand_written.h"

#include "compiler/program/spirv_format.h"
#include "compiler/target/glsl/spirv.h"

namespace firn::bench {
namespace {

constexpr const char* kHead = R"(#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_atomic_float : enable
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
)";

constexpr const char* kMatrixHead = R"(#pragma use_vulkan_memory_model
#extension GL_NV_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
)";

constexpr const char* kEight = R"(
#define eight_shuffle(x, k) subgroupShuffle(x, (gl_SubgroupInvocationID & ~7u) + uint(k))
float eight_sum(float x) {
    x += subgroupShuffleXor(x, 1u);
    x += subgroupShuffleXor(x, 2u);
    return x + subgroupShuffleXor(x, 4u);
}
float eight_max(float x) {
    x = max(x, subgroupShuffleXor(x, 1u));
    x = max(x, subgroupShuffleXor(x, 2u));
    return max(x, subgroupShuffleXor(x, 4u));
}
)";

bool is_texel(As as) { return as == As::Texels || as == As::Texels4 || as == As::IntTexels; }

/// One binding's declaration, and the macro that reads it.
std::string declaration(const HandBinding& binding, size_t number) {
    const std::string& name = binding.name;
    std::string out = "layout(set = 0, binding = " + std::to_string(number);
    const std::string coherent = binding.coherent ? " coherent" : "";
    if (is_texel(binding.as)) {
        const bool wide = binding.as == As::Texels4, ints = binding.as == As::IntTexels;
        out += std::string(wide   ? ", rgba32f"
                           : ints ? ", r32i"
                                  : ", r32f") +
               ")" + coherent + " uniform readonly " + (ints ? "iimageBuffer " : "imageBuffer ") +
               name + ";\n";
        return out + "#define " + name + "_at(place_) imageLoad(" + name + ", place_)" +
               (wide ? "\n" : ".x\n");
    }
    const char* type = binding.as == As::Vec4s ? "vec4" : binding.as == As::Ints ? "int" : "float";
    out += ", std430)" + coherent + " " + std::string(binding.written ? "" : "readonly ") +
           "buffer Of_" + name + " { " + type + " " + name + "[]; };\n";
    return out + "#define " + name + "_at(place_) " + name + "[place_]\n";
}

std::string full_text(const HandKernel& kernel) {
    std::string out = kHead;
    if (kernel.matrix_unit) out += kMatrixHead;
    const auto& size = kernel.group_size;
    out += "layout(local_size_x = " + std::to_string(size[0]) +
           ", local_size_y = " + std::to_string(size[1]) +
           ", local_size_z = " + std::to_string(size[2]) + ") in;\n";
    for (size_t k = 0; k < kernel.bindings.size(); ++k) out += declaration(kernel.bindings[k], k);
    for (const auto& [name, value] : kernel.constants)
        out += "const int " + name + " = " + std::to_string(value) + ";\n";
    return out + kEight + kernel.body;
}

KernelInfo kernel_info(const HandKernel& kernel) {
    KernelInfo info;
    info.name = kernel.name;
    info.artefact.text = full_text(kernel);
    info.artefact.format = kSpirvFormat;
    info.artefact.words = glsl_to_spirv(info.artefact.text, kernel.name);
    info.group_size = kernel.group_size;
    info.matrix_unit = kernel.matrix_unit;
    for (const HandBinding& binding : kernel.bindings) {
        const bool texel = is_texel(binding.as), ints = binding.as == As::IntTexels;
        const int width = binding.as == As::Texels4 || binding.as == As::Vec4s ? 4 : 1;
        info.bindings.push_back({texel ? BindingForm::View : BindingForm::Storage, ints ? i32 : f32,
                                 width, binding.written});
    }
    return info;
}

std::vector<int> buffers_of(const HandKernel& kernel) {
    std::vector<int> out;
    for (const HandBinding& binding : kernel.bindings) out.push_back(binding.buffer);
    return out;
}

}  // namespace

HandWritten::HandWritten(Executor& executor, const std::string& name, const HandProgram& source,
                         const std::vector<std::vector<float>>& arguments,
                         const std::vector<int64_t>& results)
    : executor_(executor) {
    auto program = std::make_shared<Program>();
    program->name = name;
    program->profile = executor.profile();
    auto add = [&](int64_t elements, BufferRole role) {
        const int index = static_cast<int>(program->buffers.size());
        const std::string label = "buffer " + std::to_string(index);
        program->buffers.push_back({label, f32, Size(elements), {}, role, {}});
        return index;
    };
    auto memory = [&](int64_t elements) {
        return executor.allocate(static_cast<uint64_t>(elements) * 4, name);
    };
    for (const std::vector<float>& values : arguments) {
        const int64_t elements = static_cast<int64_t>(values.size());
        const int index = add(elements, BufferRole::Argument);
        program->arguments.push_back({name, f32, {Size(elements)}, false, index});
        call_.arguments.push_back(memory(elements));
        call_.scalars.emplace_back();
        executor.write(*call_.arguments.back(), 0, std::as_bytes(std::span(values)));
    }
    for (int64_t elements : results) {
        program->results.push_back({f32, {Size(elements)}, add(elements, BufferRole::Result)});
        call_.results.push_back(memory(elements));
    }
    for (int64_t elements : source.temporaries) add(elements, BufferRole::Temporary);

    for (const HandKernel& kernel : source.kernels) program->kernels.push_back(kernel_info(kernel));
    std::vector<HandStep> steps = source.steps;
    for (size_t k = 0; source.steps.empty() && k < source.kernels.size(); ++k)
        steps.push_back({static_cast<int>(k), {}});
    for (const HandStep& step : steps) {
        const HandKernel& kernel = source.kernels[static_cast<size_t>(step.kernel)];
        DispatchStep dispatch;
        dispatch.kernel = step.kernel;
        dispatch.buffers = step.buffers.empty() ? buffers_of(kernel) : step.buffers;
        for (size_t axis = 0; axis < 3; ++axis) dispatch.groups[axis] = Size(kernel.groups[axis]);
        program->steps.push_back({dispatch});
    }
    program_ = std::move(program);
}

std::vector<float> HandWritten::read(size_t result) const {
    const BufferInfo& info =
        program_->buffers[static_cast<size_t>(program_->results.at(result).buffer)];
    std::vector<float> values(static_cast<size_t>(info.elements.constant()));
    executor_.read(*call_.results.at(result), 0, std::as_writable_bytes(std::span(values)));
    return values;
}

}  // namespace firn::bench
