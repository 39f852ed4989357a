// Kernels and steps of a call, for engines that dispatch themselves.
#include "engine/c/call.h"

namespace firn::c {
namespace {

void require_flat(const firn_call& call) {
    if (call.plan->in_parts)
        fail(FIRN_ERROR_UNSUPPORTED,
             "the program has a loop whose end only the data knows, so that its steps are not a "
             "list; save it with max_steps");
}

firn_slot slot_of(const firn_call& call, int slot) {
    const Program& program = *call.program;
    const auto at = static_cast<size_t>(slot);
    firn_slot out{};
    out.bytes = call.plan->slot_bytes[at];
    if (call.plan->scratch_offsets[at] != UINT64_MAX) {
        out.what = FIRN_SLOT_SCRATCH;
        out.offset = call.plan->scratch_offsets[at];
        return out;
    }
    if (program.buffers[at].role == BufferRole::Constant) {
        out.what = FIRN_SLOT_CONSTANT;
        out.data = program.buffers[at].data.data();
        out.bytes = program.buffers[at].data.size();
        return out;
    }
    for (size_t k = 0; k < program.arguments.size(); ++k)
        if (!program.arguments[k].scalar && program.arguments[k].buffer == slot) {
            out.what = FIRN_SLOT_ARGUMENT;
            out.index = static_cast<uint32_t>(k);
            return out;
        }
    for (size_t k = 0; k < call.plan->result_slots.size(); ++k)
        if (call.plan->result_slots[k] == slot) {
            out.what = FIRN_SLOT_RESULT;
            out.index = static_cast<uint32_t>(k);
            return out;
        }
    throw InternalError("a step uses memory that is no argument, result, constant or scratch");
}

/// Copies that end a call: results that are arguments, constants or other results.
std::vector<std::pair<int, uint32_t>> final_copies(const firn_call& call) {
    std::vector<std::pair<int, uint32_t>> copies;
    for (size_t k = 0; k < call.plan->result_slots.size(); ++k) {
        const firn_slot slot = slot_of(call, call.plan->result_slots[k]);
        if (slot.what != FIRN_SLOT_RESULT || slot.index != k)
            copies.emplace_back(call.plan->result_slots[k], static_cast<uint32_t>(k));
    }
    return copies;
}

}  // namespace
}  // namespace firn::c

using namespace firn::c;

int32_t firn_step_count(firn_call* call, uint32_t* steps, uint32_t* kernels) {
    if (!call) return FIRN_ERROR_ARGUMENT;
    return guarded(call->context, [&] {
        require_flat(*call);
        if (steps)
            *steps = static_cast<uint32_t>(call->plan->steps.size() + final_copies(*call).size());
        if (kernels) *kernels = static_cast<uint32_t>(call->program->kernels.size());
    });
}

int32_t firn_kernel(firn_call* call, uint32_t index, firn_kernel_info* info) {
    if (!call) return FIRN_ERROR_ARGUMENT;
    return guarded(call->context, [&] {
        const auto& kernels = call->program->kernels;
        if (index >= kernels.size())
            fail("the call has " + std::to_string(kernels.size()) + " kernels and no number " +
                 std::to_string(index));
        const firn::KernelInfo& kernel = kernels[index];
        call->kernel_bindings.clear();
        for (const firn::BindingInfo& binding : kernel.bindings)
            call->kernel_bindings.push_back({static_cast<int32_t>(binding.form),
                                             static_cast<int32_t>(binding.dtype.type),
                                             binding.width, binding.written});
        firn_kernel_info out{};
        out.word_count = static_cast<uint32_t>(kernel.artefact.words.size());
        out.words = kernel.artefact.words.data();
        out.name = kernel.name.c_str();
        for (size_t axis = 0; axis < 3; ++axis) out.group_size[axis] = kernel.group_size[axis];
        out.binding_count = static_cast<uint32_t>(call->kernel_bindings.size());
        out.bindings = call->kernel_bindings.data();
        out.parameter_bytes = firn::param_offsets(kernel.param_types).back();
        out.parameters_in_buffer = kernel.params_in_buffer;
        give(info, out, "firn_kernel_info");
    });
}

int32_t firn_step(firn_call* call, uint32_t index, firn_step_info* info) {
    if (!call) return FIRN_ERROR_ARGUMENT;
    return guarded(call->context, [&] {
        require_flat(*call);
        const firn::CallPlan& plan = *call->plan;
        const auto copies = final_copies(*call);
        if (index >= plan.steps.size() + copies.size())
            fail("the call has " + std::to_string(plan.steps.size() + copies.size()) +
                 " steps and no number " + std::to_string(index));
        firn_step_info out{};
        out.kernel = -1;
        call->slots.clear();
        if (index >= plan.steps.size()) {
            const auto& [from, result] = copies[index - plan.steps.size()];
            firn_slot target{};
            target.what = FIRN_SLOT_RESULT;
            target.index = result;
            target.bytes = plan.slot_bytes[static_cast<size_t>(from)];
            call->slots = {slot_of(*call, from), target};
            out.barrier_before = index == plan.steps.size();
        } else if (const firn::PlannedStep& step = plan.steps[index]; step.binding_set < 0) {
            call->slots = {slot_of(*call, step.source), slot_of(*call, step.target)};
            out.barrier_before = step.barrier_before;
        } else {
            if (step.groups_slot >= 0)
                fail(FIRN_ERROR_UNSUPPORTED, "only the device knows how many groups step " +
                                                 std::to_string(index) +
                                                 " has; record the call by firn_record");
            const firn::PlannedSet& set = plan.sets[static_cast<size_t>(step.binding_set)];
            for (int slot : set.slots) call->slots.push_back(slot_of(*call, slot));
            const auto kernel = static_cast<size_t>(set.kernel);
            firn::patch_params(plan, call->scalars, call->params);
            out.kernel = set.kernel;
            for (size_t axis = 0; axis < 3; ++axis) out.groups[axis] = step.groups[axis];
            out.barrier_before = step.barrier_before;
            out.parameters = call->params.bytes.data() + step.param_offset;
            out.parameter_bytes =
                firn::param_offsets(call->program->kernels[kernel].param_types).back();
        }
        out.slot_count = static_cast<uint32_t>(call->slots.size());
        out.slots = call->slots.data();
        give(info, out, "firn_step_info");
    });
}
