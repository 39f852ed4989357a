// The one primitive of the runtime: a program's commands into a command buffer.
#include "engine/runtime/record.h"

#include <algorithm>

#include "engine/gpu/commands.h"

namespace firn {
namespace {

/// What vkCmdUpdateBuffer takes at most.
constexpr uint64_t kUpdateBytes = 65536;

bool outside(const Program& program, int slot) {
    BufferRole role = program.buffers[static_cast<size_t>(slot)].role;
    return role == BufferRole::Argument || role == BufferRole::Constant;
}

bool overlap(const BufferRange& a, const BufferRange& b) {
    return a.buffer == b.buffer && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

/// The first bytes of a caller's memory, as many as the tensor has.
BufferRange narrowed(const BufferRange& range, uint64_t bytes, const std::string& program,
                     const std::string& name) {
    if (range.buffer == VK_NULL_HANDLE)
        throw UserError("program '" + program + "' was called without memory for '" + name + "'");
    if (range.bytes < bytes)
        throw UserError("program '" + program + "': '" + name + "' takes " + std::to_string(bytes) +
                        " bytes and the memory given for it has " + std::to_string(range.bytes));
    BufferRange narrow = range;
    narrow.bytes = bytes;
    return narrow;
}

}  // namespace

bool result_needs_memory(const Program& program, const CallPlan& plan, size_t result) {
    int slot = plan.result_slots[result];
    return plan.slot_used[static_cast<size_t>(slot)] && !outside(program, slot);
}

PreparedCall::PreparedCall(const LoadedProgram& loaded, const Program& program,
                           std::shared_ptr<const CallPlan> plan, const Bindings& bindings)
    : device_(loaded.device()),
      plan_(std::move(plan)),
      bindings_(bindings),
      params_(unpatched(*plan_)) {
    ensure(bindings.arguments.size() == program.arguments.size() &&
               bindings.results.size() == program.results.size(),
           "a program was called with another number of arguments or results");
    resolve_slots(loaded, program);
    refuse_aliases(program);
    bind_sets(loaded, program);
}

/// Finds the memory of every slot: the caller's for arguments and results, the scratch for
/// temporaries. A result that ends in the memory of an argument, a constant or another result is
/// copied at the end.
void PreparedCall::resolve_slots(const LoadedProgram& loaded, const Program& program) {
    slots_.resize(program.buffers.size());
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
        uint64_t bytes = plan_->slot_bytes[slot];
        if (const auto& constant = loaded.constants()[slot]) slots_[slot] = constant->range();
        uint64_t offset = plan_->scratch_offsets[slot];
        if (offset == UINT64_MAX) continue;
        ensure(offset + bytes <= bindings_.scratch.bytes, "the scratch memory is too small");
        slots_[slot] = bindings_.scratch;
        slots_[slot].offset += offset;
        slots_[slot].bytes = bytes;
    }
    for (size_t k = 0; k < program.arguments.size(); ++k) {
        const ArgumentInfo& info = program.arguments[k];
        if (info.scalar || info.buffer < 0) continue;
        auto slot = static_cast<size_t>(info.buffer);
        slots_[slot] =
            narrowed(bindings_.arguments[k], plan_->slot_bytes[slot], program.name, info.name);
    }
    for (size_t k = 0; k < program.results.size(); ++k) {
        auto slot = static_cast<size_t>(plan_->result_slots[k]);
        const BufferRange& given = bindings_.results[k];
        if (given.buffer == VK_NULL_HANDLE && !result_needs_memory(program, *plan_, k)) continue;
        const std::string& name = program.buffers[slot].name;
        BufferRange target = narrowed(given, plan_->slot_bytes[slot], program.name, name);
        if (slots_[slot].buffer == VK_NULL_HANDLE)
            slots_[slot] = target;
        else if (slots_[slot] != target)
            final_copies_.push_back({slots_[slot], target});
    }
}

void PreparedCall::refuse_aliases(const Program& program) const {
    struct Use {
        BufferRange range;
        bool written = false;
        std::string name;
    };
    std::vector<Use> uses;
    for (size_t slot = 0; slot < slots_.size(); ++slot)
        if (slots_[slot].buffer != VK_NULL_HANDLE && plan_->scratch_offsets[slot] == UINT64_MAX)
            uses.push_back({slots_[slot], plan_->slot_written[slot], program.buffers[slot].name});
    for (const Copy& copy : final_copies_) uses.push_back({copy.target, true, "a copied result"});
    for (size_t a = 0; a < uses.size(); ++a)
        for (size_t b = 0; b < a; ++b)
            if ((uses[a].written || uses[b].written) && overlap(uses[a].range, uses[b].range))
                throw UserError("program '" + program.name + "': '" + uses[b].name + "' and '" +
                                uses[a].name +
                                "' were given the same memory and one of them is "
                                "written; give each its own");
}

void PreparedCall::bind_sets(const LoadedProgram& loaded, const Program& program) {
    std::vector<SetRequest> requests;
    BufferRange params = bindings_.scratch;
    params.offset += plan_->scratch_params;
    if (plan_->buffer_params > 0)
        ensure(plan_->scratch_bytes <= bindings_.scratch.bytes, "the scratch memory is too small");
    for (const PlannedSet& set : plan_->sets) {
        SetRequest request;
        request.pipeline = &loaded.pipeline(set.kernel);
        for (int slot : set.slots) {
            const BufferRange& range = slots_[static_cast<size_t>(slot)];
            const std::string& name = program.buffers[static_cast<size_t>(slot)].name;
            ensure(range.buffer != VK_NULL_HANDLE, "a buffer of a program has no memory");
            request.buffers.push_back(range);
            request.names.push_back(name);
        }
        request.params = params;
        request.params.bytes = request.pipeline->param_bytes();
        requests.push_back(std::move(request));
    }
    sets_ = std::make_unique<DescriptorSets>(device_, requests, "sets of " + program.name);
    for (size_t i = 0; i < requests.size(); ++i) {
        const Pipeline& pipeline = *requests[i].pipeline;
        bound_.push_back({pipeline.handle(), pipeline.layout(), sets_->sets()[i],
                          pipeline.params_in_buffer() ? 0 : pipeline.param_bytes(),
                          pipeline.params_in_buffer()});
    }
}

void PreparedCall::copy(VkCommandBuffer commands, const Copy& copy) const {
    if (copy.source == copy.target) return;
    VkBufferCopy region{copy.source.offset, copy.target.offset,
                        std::min(copy.source.bytes, copy.target.bytes)};
    device_.vk().vkCmdCopyBuffer(commands, copy.source.buffer, copy.target.buffer, 1, &region);
}

/// Parameters that are too many for push constants travel inside the command buffer.
void PreparedCall::upload_params(VkCommandBuffer commands) const {
    if (plan_->buffer_params == 0) return;
    for (uint64_t done = 0; done < plan_->buffer_params; done += kUpdateBytes) {
        uint64_t bytes = std::min(kUpdateBytes, plan_->buffer_params - done);
        device_.vk().vkCmdUpdateBuffer(commands, bindings_.scratch.buffer,
                                       bindings_.scratch.offset + plan_->scratch_params + done,
                                       bytes, params_.bytes.data() + done);
    }
    barrier_compute(device_, commands);
}

void record(PreparedCall& call, VkCommandBuffer commands, const std::vector<Scalar>& scalars,
            Timestamps* timestamps) {
    if (!call.plan_->loops.empty())
        throw UserError("a program with a loop whose end only the data knows cannot be recorded into one command "
                        "buffer; give the loop a bound of at most " +
                        std::to_string(call.plan_->loops[0].turns) + " turns (while_ takes max_steps)");
    record_part(call, commands, scalars, {0, call.plan_->steps.size(), {}}, timestamps);
}

void record_part(PreparedCall& call, VkCommandBuffer commands, const std::vector<Scalar>& scalars,
                 const RecordedPart& part, Timestamps* timestamps) {
    const CallPlan& plan = *call.plan_;
    const VolkDeviceTable& vk = call.device_.vk();
    patch_params(plan, scalars, part.done, call.params_);
    call.upload_params(commands);
    if (timestamps) {
        timestamps->reset(commands);
        timestamps->mark(commands);
    }
    VkPipeline bound_pipeline = VK_NULL_HANDLE;
    VkDescriptorSet bound_set = VK_NULL_HANDLE;
    for (size_t at = part.first; at < part.last; ++at) {
        const PlannedStep& step = plan.steps[at];
        if (step.barrier_before) barrier_compute(call.device_, commands, plan.indirect);
        if (step.binding_set < 0) {
            call.copy(commands, {call.slots_[static_cast<size_t>(step.source)],
                                 call.slots_[static_cast<size_t>(step.target)]});
        } else {
            const PreparedCall::BoundSet& set = call.bound_[static_cast<size_t>(step.binding_set)];
            if (set.pipeline != bound_pipeline)
                vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, set.pipeline);
            if (set.set != bound_set || set.params_in_buffer)
                vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, set.layout, 0,
                                           1, &set.set, set.params_in_buffer ? 1 : 0,
                                           &step.param_offset);
            if (set.push_bytes > 0)
                vk.vkCmdPushConstants(commands, set.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                      set.push_bytes, call.params_.bytes.data() + step.param_offset);
            if (step.groups_slot >= 0) {
                const BufferRange& sizes = call.slots_[static_cast<size_t>(step.groups_slot)];
                vk.vkCmdDispatchIndirect(commands, sizes.buffer, sizes.offset + step.groups_offset);
            } else {
                vk.vkCmdDispatch(commands, step.groups[0], step.groups[1], step.groups[2]);
            }
            bound_pipeline = set.pipeline;
            bound_set = set.set;
        }
        if (timestamps) timestamps->mark(commands);
    }
    if (call.final_copies_.empty() || part.last < plan.steps.size()) return;
    barrier_compute(call.device_, commands);
    for (const PreparedCall::Copy& copy : call.final_copies_) call.copy(commands, copy);
}

}  // namespace firn
