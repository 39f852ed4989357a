// Parameters and statistics of a compiled program.
#include "compiler/program/program.h"

#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/program/index_limits.h"
#include "compiler/program/step_counts.h"

namespace firn {

std::vector<uint32_t> param_offsets(const std::vector<DType>& types) {
    std::vector<uint32_t> offsets;
    uint32_t end = 0;
    for (DType type : types) {
        uint32_t bytes = type.bytes() == 8 ? 8 : 4;
        end = (end + bytes - 1) / bytes * bytes;
        offsets.push_back(end);
        end += bytes;
    }
    offsets.push_back(end);
    return offsets;
}

std::vector<Scalar> param_values(const DispatchStep& dispatch, const SizeEnv& env,
                                 const std::vector<Scalar>& scalars) {
    std::vector<Scalar> values;
    values.reserve(dispatch.params.size());
    for (const ParamInfo& param : dispatch.params) {
        if (param.scalar >= 0) {
            ensure(static_cast<size_t>(param.scalar) < scalars.size(),
                   "a kernel parameter names a scalar argument that does not exist");
            values.push_back(scalars[static_cast<size_t>(param.scalar)].to(param.dtype));
            continue;
        }
        values.push_back(
            scalar_int(index_value(param.size, env, "a kernel's parameter"), param.dtype));
    }
    return values;
}

namespace {

/// The type in which a kernel gets a parameter.
DType held_type(DType dtype) {
    if (dtype.is_half()) return f32;
    return dtype.is_narrow() ? i32 : dtype;
}

}  // namespace

uint64_t param_bits(const Scalar& value, DType dtype) {
    uint64_t bits = 0;
    store_scalar(value.to(dtype).to(held_type(dtype)), &bits);
    return bits;
}

Scalar scalar_of_bits(uint64_t bits, DType dtype) {
    return load_scalar(held_type(dtype), &bits).to(dtype);
}

ProgramStats stats(const Program& program, const SizeEnv& env) {
    ProgramStats result;
    result.kernels = static_cast<int64_t>(program.kernels.size());
    for (const KernelInfo& kernel : program.kernels) {
        result.guards += kernel.guards;
        bool unknown = kernel.back_edges < 0 || result.back_edges < 0;
        result.back_edges = unknown ? -1 : std::max(result.back_edges, kernel.back_edges);
    }
    count_steps(program, env, [&](const FlatStep& step, int64_t times) {
        result.barriers += step.barrier_before ? times : 0;
        if (step.call) {
            result.calls += times;
            return;
        }
        if (step.copy) {
            int64_t bytes =
                program.buffers[static_cast<size_t>(step.copy->source)].bytes().evaluate(step.env);
            result.bytes_read = add_times(result.bytes_read, times, bytes);
            result.bytes_written = add_times(result.bytes_written, times, bytes);
            return;
        }
        if (!step.dispatch) return;  // the host's work is not counted
        const Work& work = step.dispatch->work;
        result.dispatches += times;
        result.indirect_dispatches += step.dispatch->sizes_binding >= 0 ? times : 0;
        result.operations = add_times(result.operations, times, work.operations.evaluate(step.env));
        result.bytes_read = add_times(result.bytes_read, times, work.bytes_read.evaluate(step.env));
        result.bytes_written =
            add_times(result.bytes_written, times, work.bytes_written.evaluate(step.env));
    });
    const bool flat = can_be_flat(program, env);
    result.peak_bytes =
        static_cast<int64_t>(flat ? plan_memory(program, flatten(program, env), env).bytes
                                  : plan_rotating_memory(program, env).plan.bytes);
    return result;
}

std::string scalar_symbol(int argument) { return "$" + std::to_string(argument); }

bool reuses_arguments(const Program& program) {
    return std::any_of(
        program.results.begin(), program.results.end(), [&](const ResultInfo& result) {
            return program.buffers[static_cast<size_t>(result.buffer)].role == BufferRole::Argument;
        });
}

bool has_calls(const std::vector<Step>& steps) {
    return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
        const auto* repeat = std::get_if<RepeatStep>(&step.step);
        return std::holds_alternative<CallStep>(step.step) || (repeat && has_calls(repeat->body));
    });
}

}  // namespace firn
