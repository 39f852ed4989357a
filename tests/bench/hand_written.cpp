// Programs whose kernels are GLSL written by hand.
#include "tests/bench/hand_written.h"

#include <utility>

#include "compiler/codegen/spirv.h"

namespace firn::bench {
namespace {

KernelInfo kernel_info(const HandKernel& kernel) {
    KernelInfo info;
    info.name = kernel.name;
    info.glsl = kernel.glsl;
    info.spirv = glsl_to_spirv(kernel.glsl, kernel.name);
    info.group_size = kernel.group_size;
    info.bindings = kernel.bindings;
    return info;
}

}  // namespace

BindingInfo texel(int width) { return {BindingForm::Texel, f32, width, false}; }
BindingInfo storage(bool written) { return {BindingForm::Storage, f32, 4, written}; }

HandWritten::HandWritten(Executor& executor, const std::string& name,
                         const std::vector<HandBuffer>& buffers,
                         const std::vector<HandKernel>& kernels)
    : executor_(executor) {
    auto program = std::make_shared<Program>();
    program->name = name;
    program->profile = executor.profile();
    for (size_t i = 0; i < buffers.size(); ++i) {
        const HandBuffer& buffer = buffers[i];
        std::string label = "buffer " + std::to_string(i);
        int index = static_cast<int>(i);
        program->buffers.push_back({label, f32, Size(buffer.elements), buffer.role, {}});
        auto memory = [&] {
            return executor.allocate(static_cast<uint64_t>(buffer.elements) * 4, label);
        };
        if (buffer.role == BufferRole::Argument) {
            program->arguments.push_back({label, f32, {Size(buffer.elements)}, false, index});
            call_.arguments.push_back(memory());
            call_.scalars.emplace_back();
        } else if (buffer.role == BufferRole::Result) {
            program->results.push_back({f32, {Size(buffer.elements)}, index});
            call_.results.push_back(memory());
        }
    }
    for (const HandKernel& kernel : kernels) {
        DispatchStep dispatch;
        dispatch.kernel = static_cast<int>(program->kernels.size());
        dispatch.buffers = kernel.buffers;
        dispatch.groups = {Size(kernel.groups[0]), Size(kernel.groups[1]), Size(kernel.groups[2])};
        program->kernels.push_back(kernel_info(kernel));
        program->steps.push_back({dispatch});
    }
    program_ = std::move(program);
}

void HandWritten::write(int argument, std::span<const float> values) {
    executor_.write(*call_.arguments.at(static_cast<size_t>(argument)), 0, std::as_bytes(values));
}

std::vector<float> HandWritten::read(int result) const {
    const Memory& memory = *call_.results.at(static_cast<size_t>(result));
    const BufferInfo& info =
        program_
            ->buffers[static_cast<size_t>(program_->results[static_cast<size_t>(result)].buffer)];
    std::vector<float> values(static_cast<size_t>(info.elements.constant()));
    executor_.read(memory, 0, std::as_writable_bytes(std::span(values)));
    return values;
}

void HandWritten::run() { executor_.run(program_, call_); }

void HandWritten::swap(int argument, int result) {
    std::swap(call_.arguments.at(static_cast<size_t>(argument)),
              call_.results.at(static_cast<size_t>(result)));
}

}  // namespace firn::bench
