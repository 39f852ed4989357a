// Plans hold all that a program needs at given sizes to run on the host.
#include "compiler/host/host_plan.h"

#include <algorithm>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/program/index_limits.h"
#include "compiler/program/plan_symbols.h"
#include "compiler/program/step_counts.h"

namespace firn {
namespace {

/// Notes the slots that steps write; slots of one class replace one another.
std::vector<bool> find_written(const Program& program, const std::vector<FlatStep>& steps,
                               const std::vector<int>& classes) {
    std::vector<bool> written(program.buffers.size());
    const auto at = [&](int slot) {
        return static_cast<size_t>(classes.empty() ? slot : classes[static_cast<size_t>(slot)]);
    };
    for (const FlatStep& step : steps)
        for (size_t k = 0; k < step.slots.size(); ++k)
            if (!step.dispatch ? k == 1
                               : program.kernels[static_cast<size_t>(step.dispatch->kernel)]
                                     .bindings[k]
                                     .written)
                written[at(step.slots[k])] = true;
    for (size_t slot = 0; slot < classes.size(); ++slot)
        written[slot] = written[at(static_cast<int>(slot))];
    return written;
}

std::vector<int64_t> concrete(const Shape& shape, const SizeEnv& env) {
    std::vector<int64_t> out;
    for (const Size& size : shape) out.push_back(size.evaluate(env));
    return out;
}

}  // namespace

HostStep plan_host_step(const Program& program, const DeviceProfile& profile, const FlatStep& step,
                        const std::set<std::string>& late, PlacedNumbers& numbers) {
    HostStep planned;
    planned.dispatch = step.dispatch;
    planned.slots = step.slots;
    if ((planned.call = step.call)) {
        planned.input_shape = concrete(step.call->input_shape, step.env);
        planned.output_shape = concrete(step.call->output_shape, step.env);
        return planned;
    }
    if (!step.dispatch) {
        const BufferInfo& copied = program.buffers[static_cast<size_t>(step.slots[0])];
        planned.seconds =
            2 * static_cast<double>(copied.bytes().evaluate(step.env)) / profile.bytes_per_second;
        return planned;
    }
    const DispatchStep& dispatch = *step.dispatch;
    for (size_t k = 0; k < 3; ++k)
        planned.groups[k] = std::max<int64_t>(0, dispatch.groups[k].evaluate(step.env));
    planned.seconds =
        predicted_seconds(dispatch.work, step.env, profile) - profile.seconds_per_launch;
    const int arguments = static_cast<int>(program.arguments.size());
    planned.params.resize(dispatch.params.size());
    for (size_t k = 0; k < dispatch.params.size(); ++k) {
        const ParamInfo& param = dispatch.params[k];
        if (param.scalar >= arguments)
            planned.late.push_back({k, param.dtype,
                                    arguments + numbers.place(program.host_scalars,
                                                              param.scalar - arguments, step.env),
                                    Size(), SizeEnv{}});
        else if (param.scalar >= 0)
            planned.late.push_back({k, param.dtype, param.scalar, Size(), SizeEnv{}});
        else if (mentions_any(param.size, late))
            planned.late.push_back({k, param.dtype, -1, param.size, step.env});
        else
            planned.params[k] = param_bits(
                scalar_int(index_value(param.size, step.env, "a kernel's parameter"), param.dtype),
                param.dtype);
    }
    return planned;
}

bool is_same_each_time(const Program& program, const DispatchStep& dispatch,
                       const std::set<std::string>& inductions) {
    const auto varies = [&](const Size& size) { return mentions_any(size, inductions); };
    const int arguments = static_cast<int>(program.arguments.size());
    const Work& work = dispatch.work;
    return std::none_of(dispatch.groups.begin(), dispatch.groups.end(), varies) &&
           !varies(work.operations) && !varies(work.bytes_read) && !varies(work.bytes_written) &&
           std::none_of(
               dispatch.params.begin(), dispatch.params.end(), [&](const ParamInfo& param) {
                   return param.scalar < 0 ? varies(param.size)
                                           : param.scalar >= arguments &&
                                                 any_size(program.host_scalars,
                                                          param.scalar - arguments, varies);
               });
}

void fill_late(HostStep& step, const std::vector<Scalar>& scalars,
               const std::vector<Scalar>& computed) {
    for (LateParam& late : step.late) {
        if (late.scalar >= 0) {
            const auto at = static_cast<size_t>(late.scalar);
            ensure(at < scalars.size() + computed.size(),
                   "a kernel parameter names a scalar argument that does not exist");
            step.params[late.at] = param_bits(
                at < scalars.size() ? scalars[at] : computed[at - scalars.size()], late.dtype);
            continue;
        }
        for (size_t k = 0; k < scalars.size(); ++k)
            if (scalars[k].dtype == i32)
                late.env[scalar_symbol(static_cast<int>(k))] = scalars[k].i;
        step.params[late.at] = param_bits(
            scalar_int(index_value(late.size, late.env, "a kernel's parameter")), late.dtype);
    }
}

void plan_slot_sizes(HostPlan& plan, const Program& program, const SizeEnv& env) {
    for (const BufferInfo& buffer : program.buffers)
        plan.slot_sizes.push_back(static_cast<uint64_t>(buffer.elements.evaluate(env)) *
                                  static_cast<uint64_t>(buffer.dtype.bytes()));
}

HostPlan plan_on_host(const Program& program, const DeviceProfile& profile, const SizeEnv& env,
                      const StepForms& forms, bool in_parts, bool with_steps) {
    HostPlan plan;
    plan.in_parts = in_parts || !can_be_flat(program, env);
    for (const BufferInfo& buffer : program.buffers)
        plan.slot_bytes.push_back(static_cast<uint64_t>(buffer.bytes().evaluate(env)));
    if (plan.in_parts) {
        plan.rotating = plan_rotating_memory(program, env);
        plan.scratch_bytes = plan.rotating.plan.bytes;
        plan.slot_written = find_written(program, outline(program).steps, plan.rotating.classes);
        return plan;
    }
    const FlatProgram flat = flatten(program, env);
    MemoryPlan memory = plan_memory(program, flat, env);
    plan.scratch_bytes = memory.bytes;
    plan.offsets = std::move(memory.offsets);
    plan.ends = flat.result_slots;
    plan.slot_written = find_written(program, flat.steps, {});
    if (!with_steps) return plan;
    for (const FlatStep& step : flat.steps) {
        plan.steps.push_back(plan_host_step(program, profile, step, forms.late, plan.numbers));
        plan.seconds += plan.steps.back().seconds;
    }
    return plan;
}

}  // namespace firn
