// Runs one elementwise operation on a device over columns of values, by the GLSL of operations.h.
#pragma once
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/kernel/kernel_op.h"
#include "compiler/program/spirv_format.h"
#include "compiler/target/glsl/memory.h"
#include "compiler/target/glsl/operations.h"
#include "compiler/target/glsl/spirv.h"
#include "engine/runtime/vulkan_executor.h"
#include "tests/gpu/device_fixture.h"

namespace firn {

/// Returns whether a kernel may hold and store the type itself.
inline bool has_type(const DeviceProfile& profile, DType dtype) {
    if (dtype == f64) return profile.has_f64;
    if (dtype == i64 || dtype == u64) return profile.has_i64;
    if (dtype.bytes() == 2) return profile.storage_16bit;
    return dtype.bytes() != 1 || profile.storage_8bit;
}

/// A kernel whose invocation i computes `expression` of v0 = inputs[0][i], v1 = inputs[1][i], ...
struct ElementKernel {
    std::string expression;
    DType result;
    std::vector<DType> inputs;
};

inline std::set<std::string> called_functions(const std::string& expression) {
    std::set<std::string> out;
    for (size_t at = expression.find("firn_"); at != std::string::npos;
         at = expression.find("firn_", at + 1))
        out.insert(expression.substr(at, expression.find('(', at) - at));
    return out;
}

/// Returns the head of a kernel with values of these types, as in compiled ones.
inline std::string element_head(const std::vector<DType>& types, const DeviceProfile& profile) {
    std::set<std::string> extensions{"GL_EXT_spirv_intrinsics"};
    for (DType type : types)
        for (const std::string& name : required_extensions(type)) extensions.insert(name);
    std::string glsl = "#version 460\n";
    for (const std::string& name : extensions) glsl += "#extension " + name + " : require\n";
    if (profile.keeps_special_floats) glsl += special_floats_glsl(types);
    return glsl + "layout(local_size_x = 64) in;\n";
}

inline std::string element_glsl(const ElementKernel& kernel, const DeviceProfile& profile) {
    std::vector<DType> types = kernel.inputs;
    types.push_back(kernel.result);
    std::string glsl = element_head(types, profile);
    for (size_t k = 0; k < types.size(); ++k) {
        const std::string number = std::to_string(k);
        glsl += "layout(set = 0, binding = " + number + ", std430) " +
                (k + 1 < types.size() ? "readonly " : "") + "buffer B" + number + " { " +
                element_type(types[k]) + " b" + number + "[]; };\n";
    }
    glsl +=
        "layout(push_constant) uniform Params { int count; };\n" +
        math_library(called_functions(kernel.expression)) +
        "void main() {\n    int i = int(gl_GlobalInvocationID.x);\n    if (i >= count) return;\n";
    for (size_t k = 0; k < kernel.inputs.size(); ++k) {
        const std::string number = std::to_string(k), value = "b" + number + "[i]";
        const DType type = kernel.inputs[k];
        glsl +=
            "    " + glsl_type(type) + " v" + number + " = " + from_element(type, value) + ";\n";
    }
    return glsl + "    b" + std::to_string(kernel.inputs.size()) +
           "[i] = " + to_element(kernel.result, "(" + kernel.expression + ")") + ";\n}\n";
}

inline std::shared_ptr<Program> element_program(const ElementKernel& kernel, int64_t count,
                                                const DeviceProfile& profile) {
    auto program = std::make_shared<Program>();
    program->profile = profile;
    program->name = "element";
    KernelInfo info;
    info.name = kernel.expression.substr(0, 40);
    info.artefact.text = element_glsl(kernel, profile);
    info.artefact.format = kSpirvFormat;
    info.artefact.words = glsl_to_spirv(info.artefact.text, info.name);
    validate_spirv(info.artefact.words, info.name);
    info.group_size = {64, 1, 1};
    info.param_types = {i32};
    DispatchStep dispatch;
    for (size_t k = 0; k <= kernel.inputs.size(); ++k) {
        const bool written = k == kernel.inputs.size();
        const DType type = written ? kernel.result : kernel.inputs[k];
        const int index = static_cast<int>(k);
        program->buffers.push_back({"b" + std::to_string(k),
                                    type,
                                    Size(count),
                                    {Size(count)},
                                    written ? BufferRole::Result : BufferRole::Argument,
                                    {}});
        if (written)
            program->results.push_back({type, {Size(count)}, index});
        else
            program->arguments.push_back(
                {"b" + std::to_string(k), type, {Size(count)}, false, index});
        info.bindings.push_back({BindingForm::Storage, type, 1, written});
        dispatch.buffers.push_back(index);
    }
    dispatch.params = {{i32, Size(count), -1}};
    dispatch.groups = {Size((count + 63) / 64), Size(1), Size(1)};
    program->kernels = {info};
    program->steps = {{dispatch}};
    return program;
}

/// Every element of the result; `columns` hold the inputs in storage form.
inline std::vector<std::byte> run_element(Executor& executor, const ElementKernel& kernel,
                                          const std::vector<std::vector<std::byte>>& columns,
                                          int64_t count) {
    Call call;
    auto padded = [](uint64_t bytes) { return (bytes + 15) / 16 * 16; };
    for (const std::vector<std::byte>& column : columns) {
        call.arguments.push_back(executor.allocate(padded(column.size()), "column"));
        executor.write(*call.arguments.back(), 0, column);
        call.scalars.emplace_back();
    }
    const auto bytes = static_cast<uint64_t>(count) * static_cast<uint64_t>(kernel.result.bytes());
    call.results = {executor.allocate(padded(bytes), "result")};
    const std::shared_ptr<Program> program = element_program(kernel, count, executor.profile());
    executor.run(program, call);
    std::vector<std::byte> out(bytes);
    executor.read(*call.results[0], 0, out);
    return out;
}

}  // namespace firn
