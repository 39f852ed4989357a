// Small programs by hand, for tests.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "compiler/program/program.h"

namespace firn::test {

inline int add_buffer(Program& program, const Size& elements,
                      BufferRole role = BufferRole::Temporary) {
    BufferInfo buffer;
    buffer.name = "b" + std::to_string(program.buffers.size());
    buffer.elements = elements;
    buffer.role = role;
    program.buffers.push_back(buffer);
    return static_cast<int>(program.buffers.size()) - 1;
}

inline int add_argument(Program& program, const std::string& name, const Shape& shape) {
    ArgumentInfo argument;
    argument.name = name;
    argument.shape = shape;
    argument.buffer = add_buffer(program, element_count(shape), BufferRole::Argument);
    program.arguments.push_back(argument);
    return argument.buffer;
}

inline void add_scalar(Program& program, const std::string& name, DType dtype) {
    ArgumentInfo argument;
    argument.name = name;
    argument.dtype = dtype;
    argument.scalar = true;
    program.arguments.push_back(argument);
}

inline int add_result(Program& program, const Shape& shape) {
    ResultInfo result;
    result.shape = shape;
    result.buffer = add_buffer(program, element_count(shape), BufferRole::Result);
    program.results.push_back(result);
    return result.buffer;
}

/// A dispatch of a kernel of its own that reads and writes these buffers.
inline Step dispatch(Program& program, const std::vector<int>& reads,
                     const std::vector<int>& writes) {
    KernelInfo kernel;
    kernel.name = "k" + std::to_string(program.kernels.size());
    DispatchStep step;
    step.kernel = static_cast<int>(program.kernels.size());
    for (int buffer : reads) {
        kernel.bindings.push_back({});
        step.buffers.push_back(buffer);
    }
    for (int buffer : writes) {
        BindingInfo binding;
        binding.written = true;
        kernel.bindings.push_back(binding);
        step.buffers.push_back(buffer);
    }
    step.groups = {1, 1, 1};
    program.kernels.push_back(kernel);
    return {step};
}

inline Step copy(int source, int target) { return {CopyStep{source, target}}; }

inline Step repeat(const Size& trips, std::vector<Step> body,
                   std::vector<std::pair<int, int>> rotation = {}, std::string induction = "t") {
    RepeatStep step;
    step.induction = std::move(induction);
    step.trips = trips;
    step.body = std::move(body);
    step.rotation = std::move(rotation);
    return {step};
}

/// The message of the error that `function` throws.
template <class Error, class Function>
std::string message(Function function) {
    try {
        function();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

}  // namespace firn::test
