// Programs written by hand, from GLSL to steps, so that the runtime is tested without the compiler.
#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "compiler/program/program.h"
#include "compiler/program/spirv_format.h"
#include "compiler/target/glsl/spirv.h"
#include "engine/runtime/vulkan_executor.h"

namespace firn::testing_programs {

/// A kernel whose bindings are f32 arrays b0, b1, ... (the last one written) and whose parameters
/// are p.a, p.b, ...: `body` runs once per invocation with `int i`.
inline KernelInfo kernel(const std::string& name, int bindings, const std::vector<DType>& params,
                         const std::string& body, bool params_in_buffer = false) {
    KernelInfo info;
    info.name = name;
    std::string glsl = "#version 450\nlayout(local_size_x = 64) in;\n";
    for (int i = 0; i < bindings; ++i) {
        bool written = i + 1 == bindings;
        std::string number = std::to_string(i);
        glsl += "layout(set = 0, binding = " + number + ", std430) " +
                (written ? "" : "readonly ") + "buffer B" + number + " { float b" + number +
                "[]; };\n";
        info.bindings.push_back({BindingForm::Storage, f32, 1, written});
    }
    if (!params.empty()) {
        glsl += params_in_buffer ? "layout(set = 0, binding = " + std::to_string(bindings) +
                                       ", std140) uniform Params { "
                                 : "layout(push_constant) uniform Params { ";
        for (size_t i = 0; i < params.size(); ++i)
            glsl += std::string(params[i] == f32 ? "float " : "int ") + static_cast<char>('a' + i) +
                    "; ";
        glsl += "} p;\n";
    }
    glsl += "void main() { int i = int(gl_GlobalInvocationID.x);\n" + body + "\n}\n";
    info.artefact.text = glsl;
    info.artefact.format = kSpirvFormat;
    info.artefact.words = glsl_to_spirv(glsl, name);
    validate_spirv(info.artefact.words, name);
    info.group_size = {64, 1, 1};
    info.param_types = params;
    info.params_in_buffer = params_in_buffer;
    return info;
}

inline BufferInfo buffer(const std::string& name, const Size& elements, BufferRole role) {
    return {name, f32, elements, {}, role, {}};
}
inline Step dispatch(int kernel, std::vector<int> buffers, std::vector<ParamInfo> params,
                     const Size& elements) {
    return {DispatchStep{kernel,
                         std::move(buffers),
                         std::move(params),
                         {ceil_div(elements, Size(64)), Size(1), Size(1)},
                         {}}};
}
inline ParamInfo size_param(const Size& size) { return {i32, size, -1}; }
inline ParamInfo scalar_param(DType dtype, int argument) { return {dtype, Size(), argument}; }
inline ArgumentInfo tensor_argument(const std::string& name, const Size& elements, int buffer) {
    return {name, f32, {elements}, false, buffer};
}
inline ArgumentInfo scalar_argument(const std::string& name, DType dtype) {
    return {name, dtype, {}, true, -1};
}
inline const Size kN = Size::symbol("n");

/// b = a * s, for any n.
inline std::shared_ptr<Program> scale_program(bool params_in_buffer = false) {
    auto program = std::make_shared<Program>();
    program->name = "scale";
    program->arguments = {tensor_argument("a", kN, 0), scalar_argument("s", f32)};
    program->results = {{f32, {kN}, 1}};
    program->buffers = {buffer("a", kN, BufferRole::Argument), buffer("b", kN, BufferRole::Result)};
    program->kernels = {
        kernel("scale", 2, {i32, f32}, "if (i < p.a) b1[i] = b0[i] * p.b;", params_in_buffer)};
    program->steps = {dispatch(0, {0, 1}, {size_param(kN), scalar_param(f32, 1)}, kN)};
    return program;
}

/// sum: `parts` partial sums of a, then their sum.
inline std::shared_ptr<Program> sum_program() {
    auto program = std::make_shared<Program>();
    program->name = "sum";
    program->arguments = {tensor_argument("a", kN, 0)};
    program->results = {{f32, {}, 2}};
    program->buffers = {buffer("a", kN, BufferRole::Argument),
                        buffer("parts", 64, BufferRole::Temporary),
                        buffer("total", 1, BufferRole::Result)};
    program->kernels = {
        kernel("parts", 2, {i32},
               "float s = 0; for (int k = i; k < p.a; k += 64) s += b0[k]; b1[i] = s;"),
        kernel(
            "total", 2, {},
            "if (i > 0) return; float s = 0; for (int k = 0; k < 64; ++k) s += b0[k]; b1[0] = s;")};
    program->steps = {dispatch(0, {0, 1}, {size_param(kN)}, 64), dispatch(1, {1, 2}, {}, 64)};
    return program;
}

/// `trips` iterations of next = now + 1 + iteration / 4 in two rotating buffers. The caller gives
/// `trips` as the integer scalar argument 1, so the dispatches depend on it. The result is the
/// buffer named `now` at the end.
inline std::shared_ptr<Program> rotation_program() {
    auto program = std::make_shared<Program>();
    program->name = "rotation";
    program->arguments = {tensor_argument("a", kN, 0), scalar_argument("trips", i32)};
    program->results = {{f32, {kN}, 1}};
    program->buffers = {buffer("a", kN, BufferRole::Argument),
                        buffer("now", kN, BufferRole::Result),
                        buffer("next", kN, BufferRole::Temporary)};
    program->kernels = {
        kernel("step", 2, {i32, i32}, "if (i < p.a) b1[i] = b0[i] + 1.0 + 0.25 * float(p.b);")};
    Size iteration = Size::symbol("t"), trips = Size::symbol(scalar_symbol(1));
    program->steps = {
        {CopyStep{0, 1}},
        {RepeatStep{"t",
                    trips,
                    {dispatch(0, {1, 2}, {size_param(kN), size_param(iteration)}, kN)},
                    {{1, 2}, {2, 1}}}}};
    return program;
}

/// Four kernels: two read a, one reads both of their results.
inline std::shared_ptr<Program> diamond_program() {
    auto program = std::make_shared<Program>();
    program->name = "diamond";
    program->profile.buffer_alignment = 256;  // as much as a device may ask for
    program->arguments = {tensor_argument("a", kN, 0)};
    program->results = {{f32, {kN}, 4}};
    program->buffers = {
        buffer("a", kN, BufferRole::Argument), buffer("b", kN, BufferRole::Temporary),
        buffer("c", kN, BufferRole::Temporary), buffer("d", kN, BufferRole::Temporary),
        buffer("e", kN, BufferRole::Result)};
    program->kernels = {kernel("one", 2, {i32}, "if (i < p.a) b1[i] = b0[i] + 1.0;"),
                        kernel("both", 3, {i32}, "if (i < p.a) b2[i] = b0[i] * b1[i];")};
    std::vector<ParamInfo> params = {size_param(kN)};
    program->steps = {dispatch(0, {0, 1}, params, kN), dispatch(0, {1, 2}, params, kN),
                      dispatch(0, {1, 3}, params, kN), dispatch(1, {2, 3, 4}, params, kN)};
    return program;
}

/// Runs on an executor with host values; keeps the memory of arguments and results.
struct Runner {
    explicit Runner(std::shared_ptr<Device> device) : executor(std::move(device)) {}

    std::shared_ptr<Memory> upload(const std::vector<float>& values) {
        auto memory = executor.allocate(values.size() * 4, "values");
        executor.write(*memory, 0, std::as_bytes(std::span(values)));
        return memory;
    }
    std::vector<float> download(const Memory& memory, size_t elements) {
        std::vector<float> values(elements);
        executor.read(memory, 0, std::as_writable_bytes(std::span(values)));
        return values;
    }
    /// A call with one tensor of `n` elements, more scalars behind it, and one result of `n`
    /// elements.
    Call call(const std::shared_ptr<Memory>& argument, int64_t n,
              const std::vector<Scalar>& scalars, int64_t results = -1) {
        Call call;
        call.symbols = {{"n", n}};
        call.arguments = {argument};
        call.scalars = {Scalar{}};
        for (const Scalar& scalar : scalars) {
            call.arguments.push_back(nullptr);
            call.scalars.push_back(scalar);
            if (scalar.dtype == i32)
                call.symbols[scalar_symbol(static_cast<int>(call.scalars.size()) - 1)] = scalar.i;
        }
        call.results = {
            executor.allocate(static_cast<uint64_t>(results < 0 ? n : results) * 4, "result")};
        return call;
    }

    VulkanExecutor executor;
};

inline std::vector<float> ramp(size_t elements) {
    std::vector<float> values(elements);
    for (size_t i = 0; i < elements; ++i) values[i] = static_cast<float>(i % 1000) - 3;
    return values;
}

inline std::vector<float> scaled(std::vector<float> values, float factor) {
    for (float& value : values) value *= factor;
    return values;
}

}  // namespace firn::testing_programs
