// A program at given sizes, as the flat list of commands that recording walks.
#include "engine/runtime/call_plan.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "compiler/base/error.h"
#include "compiler/program/index_limits.h"
#include "compiler/program/step_counts.h"

namespace firn {
namespace {

/// Writes `value` in its storage form, which for a parameter is 4 or 8 bytes wide.
void store_param(const Scalar& value, DType dtype, std::byte* target) {
    const uint64_t bits = param_bits(value, dtype);
    std::memcpy(target, &bits, dtype.bytes() == 8 ? 8 : 4);
}

uint64_t align(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

/// Room for parameters that live in a buffer, of the steps of a part.
constexpr uint64_t kPartParamBytes = 256 << 10;

const KernelInfo& kernel_of(const Program& program, const FlatStep& step) {
    return program.kernels[static_cast<size_t>(step.dispatch->kernel)];
}

class StepPlanner {
  public:
    StepPlanner(const Program& program, const DeviceProfile& profile,
                const std::set<std::string>& filled_in)
        : program_(program), profile_(profile), filled_in_(filled_in) {}

    PlannedSteps run(std::span<const FlatStep> steps) {
        // Parameters in buffers first: they are uploaded as one range.
        for (bool in_buffer : {true, false}) {
            for (const FlatStep& step : steps)
                if (step.dispatch && kernel(step).params_in_buffer == in_buffer) add_params(step);
            if (in_buffer) plan_.buffer_params = plan_.params.size();
        }
        size_t next[2] = {0, 0};
        for (const FlatStep& step : steps) {
            PlannedStep planned = step.dispatch ? plan_dispatch(step) : plan_copy(step);
            if (step.dispatch) {
                bool in_buffer = kernel(step).params_in_buffer;
                planned.param_offset = param_offsets_[in_buffer][next[in_buffer]++];
            }
            planned.barrier_before = step.barrier_before;
            plan_.barriers += step.barrier_before;
            plan_.seconds += planned.seconds;
            plan_.steps.push_back(planned);
        }
        plan_.host_scalars = numbers_.placed();
        return std::move(plan_);
    }

  private:
    const KernelInfo& kernel(const FlatStep& step) const { return kernel_of(program_, step); }

    PlannedStep plan_dispatch(const FlatStep& step) {
        const KernelInfo& info = kernel(step);
        PlannedStep planned;
        for (size_t dim = 0; dim < 3; ++dim) {
            int64_t groups = step.dispatch->groups[dim].evaluate(step.env);
            if (groups > profile_.max_groups[dim])
                throw UserError("kernel '" + info.name + "' of program '" + program_.name +
                                "' needs " + std::to_string(groups) + " workgroups in dimension " +
                                std::to_string(dim) + " and the device '" + profile_.name +
                                "' has " + std::to_string(profile_.max_groups[dim]) +
                                "; use a smaller tensor");
            planned.groups[dim] = static_cast<uint32_t>(std::max<int64_t>(groups, 0));
        }
        if (int binding = step.dispatch->sizes_binding; binding >= 0) {
            planned.groups_slot = step.slots.at(static_cast<size_t>(binding));
            planned.groups_offset = static_cast<uint64_t>(step.dispatch->sizes_groups) * 4;
            const Size& sizes = program_.buffers[static_cast<size_t>(planned.groups_slot)].elements;
            ensure(step.dispatch->sizes_groups + 3 <= sizes.evaluate(step.env),
                   "the groups of an indirect dispatch lie outside their buffer");
            plan_.indirect = true;
        }
        planned.seconds = predicted_seconds(step.dispatch->work, step.env, profile_);
        PlannedSet set{step.dispatch->kernel, step.slots};
        auto [found, added] = set_numbers_.emplace(set, static_cast<int>(plan_.sets.size()));
        if (added) plan_.sets.push_back(std::move(set));
        planned.binding_set = found->second;
        ++plan_.dispatches;
        return planned;
    }

    PlannedStep plan_copy(const FlatStep& step) {
        PlannedStep planned;
        planned.source = step.slots[0];
        planned.target = step.slots[1];
        const BufferInfo& copied = program_.buffers[static_cast<size_t>(step.slots[0])];
        planned.seconds =
            profile_.seconds_per_launch +
            2 * static_cast<double>(copied.bytes().evaluate(step.env)) / profile_.bytes_per_second;
        return planned;
    }

    void add_params(const FlatStep& step) {
        const KernelInfo& info = kernel(step);
        std::vector<int> addressed;  // slots
        for (size_t k = 0; k < info.bindings.size(); ++k)
            if (info.bindings[k].form == BindingForm::Address) addressed.push_back(step.slots[k]);
        const size_t own = step.dispatch->params.size();
        ensure(own + addressed.size() == info.param_types.size(),
               "a dispatch has another number of parameters than its kernel");
        std::vector<uint32_t> offsets = param_offsets(info.param_types);
        uint64_t start =
            align(plan_.params.size(), info.params_in_buffer ? profile_.buffer_alignment : 8);
        plan_.params.resize(start + offsets.back());
        param_offsets_[info.params_in_buffer].push_back(static_cast<uint32_t>(start));
        for (size_t i = 0; i < addressed.size(); ++i)
            plan_.addresses.push_back(
                {static_cast<uint32_t>(start + offsets[own + i]), addressed[i]});
        for (size_t i = 0; i < own; ++i)
            add_param(step, step.dispatch->params[i], info.param_types[i],
                      static_cast<uint32_t>(start + offsets[i]));
    }

    void add_param(const FlatStep& step, const ParamInfo& param, DType dtype, uint32_t offset) {
        if (param.scalar >= 0) {
            const int arguments = static_cast<int>(program_.arguments.size());
            const int scalar = param.scalar < arguments
                                   ? param.scalar
                                   : arguments + numbers_.place(program_.host_scalars,
                                                                param.scalar - arguments, step.env);
            plan_.patches.push_back({offset, dtype, scalar, Size(), -1});
        } else if (mentions_any(param.size, filled_in_)) {
            plan_.envs.push_back(step.env);
            plan_.patches.push_back(
                {offset, dtype, -1, param.size, static_cast<int>(plan_.envs.size()) - 1});
        } else {
            const std::string what =
                "kernel '" + kernel(step).name + "' of program '" + program_.name + "'";
            store_param(scalar_int(index_value(param.size, step.env, what)), dtype,
                        &plan_.params[offset]);
        }
    }

    const Program& program_;
    const DeviceProfile& profile_;
    const std::set<std::string>& filled_in_;
    PlannedSteps plan_;
    PlacedNumbers numbers_;
    std::map<PlannedSet, int> set_numbers_;
    std::vector<uint32_t> param_offsets_[2];  // by params_in_buffer, in the order of the steps
};

/// Notes the slots that the steps touch; slots of one class replace one another.
void note_slots(const Program& program, std::span<const FlatStep> steps,
                const std::vector<int>& classes, CallPlan& plan) {
    plan.slot_used.resize(program.buffers.size());
    plan.slot_written.resize(program.buffers.size());
    const auto at = [&](int slot) {
        return static_cast<size_t>(classes.empty() ? slot : classes[static_cast<size_t>(slot)]);
    };
    for (const FlatStep& step : steps)
        for (size_t k = 0; k < step.slots.size(); ++k) {
            const bool written =
                step.dispatch ? kernel_of(program, step).bindings[k].written : k == 1;
            plan.slot_used[at(step.slots[k])] = true;
            if (written) plan.slot_written[at(step.slots[k])] = true;
        }
    for (size_t slot = 0; slot < classes.size(); ++slot) {
        plan.slot_used[slot] = plan.slot_used[at(static_cast<int>(slot))];
        plan.slot_written[slot] = plan.slot_written[at(static_cast<int>(slot))];
    }
}

}  // namespace

uint64_t buffer_param_bytes(const KernelInfo& kernel, const DeviceProfile& profile) {
    return kernel.params_in_buffer
               ? align(param_offsets(kernel.param_types).back(), profile.buffer_alignment)
               : 0;
}

PlannedSteps plan_steps(const Program& program, const DeviceProfile& profile,
                        std::span<const FlatStep> steps, const std::set<std::string>& filled_in) {
    return StepPlanner(program, profile, filled_in).run(steps);
}

CallPlan plan_call(const Program& program, const DeviceProfile& profile, const SizeEnv& env,
                   bool in_parts) {
    CallPlan plan;
    plan.in_parts = in_parts || !can_be_flat(program, env) || has_calls(program.steps);
    uint64_t bytes = 0;
    if (plan.in_parts) {
        plan.rotating = plan_rotating_memory(program, env);
        bytes = plan.rotating.plan.bytes;
        note_slots(program, outline(program).steps, plan.rotating.classes, plan);
        for (const KernelInfo& kernel : program.kernels)
            if (const uint64_t own = buffer_param_bytes(kernel, profile); own > 0)
                plan.scratch_param_bytes =
                    std::max({plan.scratch_param_bytes, kPartParamBytes, own});
    } else {
        const FlatProgram flat = flatten(program, env);
        static_cast<PlannedSteps&>(plan) =
            plan_steps(program, profile, flat.steps, late_symbols(program));
        const MemoryPlan memory = plan_memory(program, flat, env);
        bytes = memory.bytes;
        plan.result_slots = flat.result_slots;
        plan.scratch_offsets = memory.offsets;
        plan.scratch_param_bytes = plan.buffer_params;
        note_slots(program, flat.steps, {}, plan);
    }
    for (const BufferInfo& buffer : program.buffers)
        plan.slot_bytes.push_back(
            std::max<uint64_t>(16, static_cast<uint64_t>(buffer.bytes().evaluate(env))));
    plan.scratch_params = align(bytes, profile.buffer_alignment);
    plan.scratch_bytes =
        plan.scratch_param_bytes > 0 ? plan.scratch_params + plan.scratch_param_bytes : bytes;
    return plan;
}

PatchedParams unpatched(const PlannedSteps& plan) {
    PatchedParams params{plan.params, plan.envs, {}};
    params.computed.reserve(plan.host_scalars.size());
    return params;
}

void patch_params(const PlannedSteps& plan, const std::vector<Scalar>& scalars,
                  PatchedParams& params) {
    host_values(plan.host_scalars, scalars, params.computed);
    for (const ParamPatch& patch : plan.patches) {
        std::byte* target = &params.bytes[patch.offset];
        if (patch.scalar >= 0) {
            const auto at = static_cast<size_t>(patch.scalar);
            ensure(at < scalars.size() + params.computed.size(),
                   "a kernel parameter names a scalar argument that was not given");
            store_param(at < scalars.size() ? scalars[at] : params.computed[at - scalars.size()],
                        patch.dtype, target);
            continue;
        }
        SizeEnv& env = params.envs[static_cast<size_t>(patch.env)];
        for (size_t k = 0; k < scalars.size(); ++k)
            if (scalars[k].dtype == i32) env[scalar_symbol(static_cast<int>(k))] = scalars[k].i;
        store_param(scalar_int(index_value(patch.size, env, "a kernel's parameter")), patch.dtype,
                    target);
    }
}

}  // namespace firn
