// The one primitive of the runtime: a program's commands into a command buffer.
#include "engine/runtime/record.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "engine/gpu/commands.h"

namespace firn {
namespace {

/// The limit of vkCmdUpdateBuffer.
constexpr uint64_t kUpdateBytes = 65536;

bool outside(const Program& program, int slot) {
    BufferRole role = program.buffers[static_cast<size_t>(slot)].role;
    return role == BufferRole::Argument || role == BufferRole::Constant;
}

/// Returns the first bytes of a caller's memory, as many as the tensor has.
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

bool result_needs_memory(const Program& program, const CallPlan& plan,
                         const std::vector<int>& result_slots, size_t result) {
    int slot = result_slots[result];
    return plan.slot_used[static_cast<size_t>(slot)] && !outside(program, slot);
}

CallUsage usage_of(const Program& program, const CallPlan& plan,
                   const std::vector<int>& result_slots) {
    CallUsage usage;
    usage.slots.resize(program.buffers.size());
    const auto at = [&](int slot) -> uint32_t& { return usage.slots[static_cast<size_t>(slot)]; };
    for (const PlannedSet& set : plan.sets) {
        const KernelInfo& kernel = program.kernels[static_cast<size_t>(set.kernel)];
        for (size_t k = 0; k < set.slots.size(); ++k) {
            const BindingForm form = kernel.bindings[k].form;
            at(set.slots[k]) |= form == BindingForm::Storage ? VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
                                : form == BindingForm::View
                                    ? VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT
                                    : VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
        }
    }
    for (const PlannedStep& step : plan.steps) {
        if (step.groups_slot >= 0) at(step.groups_slot) |= VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT;
        if (step.binding_set >= 0) continue;
        at(step.source) |= VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
        at(step.target) |= VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    }
    std::vector<bool> copied;
    for (size_t k = 0; k < result_slots.size(); ++k) {
        const auto first = std::find(result_slots.begin(), result_slots.end(), result_slots[k]);
        copied.push_back(outside(program, result_slots[k]) ||
                         static_cast<size_t>(first - result_slots.begin()) < k);
        if (copied[k]) at(result_slots[k]) |= VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    }
    for (size_t k = 0; k < result_slots.size(); ++k)
        usage.results.push_back(copied[k] ? uint32_t{VK_BUFFER_USAGE_TRANSFER_DST_BIT}
                                          : at(result_slots[k]));
    for (size_t slot = 0; slot < usage.slots.size(); ++slot)
        if (!plan.in_parts && plan.scratch_offsets[slot] != UINT64_MAX)
            usage.scratch |= usage.slots[slot];
    if (plan.scratch_param_bytes > 0)
        usage.scratch |= VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    return usage;
}

namespace {

/// Checks memory that Firn did not make.
void check_foreign(const BufferRange& range, uint32_t usage, const std::string& program,
                   const std::string& name) {
    if (range.buffer == VK_NULL_HANDLE || range.allocation != 0) return;
    const std::string subject = "program '" + program + "': the buffer of '" + name + "' ";
    if (range.offset > range.buffer_bytes || range.bytes > range.buffer_bytes - range.offset)
        throw UserError(subject + "has " + std::to_string(range.buffer_bytes) +
                        " bytes, and the range from byte " + std::to_string(range.offset) +
                        " on with " + std::to_string(range.bytes) +
                        " ends behind them; give a range inside of it");
    const uint32_t missing = usage & ~range.usage;
    if (missing == 0) return;
    struct Name {
        uint32_t bit;
        const char* name;
    };
    constexpr Name kNames[] = {
        {VK_BUFFER_USAGE_STORAGE_BUFFER_BIT, "STORAGE_BUFFER"},
        {VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT, "STORAGE_TEXEL_BUFFER"},
        {VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT, "SHADER_DEVICE_ADDRESS"},
        {VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT, "INDIRECT_BUFFER"},
        {VK_BUFFER_USAGE_TRANSFER_SRC_BIT, "TRANSFER_SRC"},
        {VK_BUFFER_USAGE_TRANSFER_DST_BIT, "TRANSFER_DST"},
        {VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, "UNIFORM_BUFFER"},
    };
    std::string names;
    for (const Name& each : kNames)
        if (missing & each.bit) names += (names.empty() ? "" : ", ") + std::string(each.name);
    throw UserError(subject + "was made without the usage " + names +
                    ", which this program takes of it; make it with that usage, or save the "
                    "program for vulkan-least, which takes STORAGE_BUFFER alone");
}

}  // namespace

PreparedCall::PreparedCall(const LoadedProgram& loaded, const Program& program,
                           std::shared_ptr<const CallPlan> plan, const Bindings& bindings,
                           const std::vector<int>& result_slots)
    : device_(loaded.device()),
      plan_(std::move(plan)),
      bindings_(bindings),
      result_slots_(plan_->in_parts ? result_slots : plan_->result_slots),
      offsets_(plan_->in_parts ? offsets_for(plan_->rotating, program, result_slots)
                               : plan_->scratch_offsets),
      results_(bindings.results.size()),
      params_(unpatched(*plan_)) {
    ensure(bindings.arguments.size() == program.arguments.size() &&
               bindings.results.size() == program.results.size(),
           "a program was called with another number of arguments or results");
    resolve_slots(loaded, program);
    final_copies_ = result_copies(result_slots_);
    refuse_foreign(program);
    refuse_aliases(program);
    give_addresses(*plan_, params_);
    own_sets_ = bind(loaded, program, plan_->sets);
}

/// Finds the memory of every slot: the caller's for arguments and results, the scratch for
/// temporaries. A result that ends in the memory of an argument, a constant or another result is
/// copied at the end.
void PreparedCall::resolve_slots(const LoadedProgram& loaded, const Program& program) {
    slots_.resize(program.buffers.size());
    for (size_t slot = 0; slot < slots_.size(); ++slot) {
        uint64_t bytes = plan_->slot_bytes[slot];
        if (const auto& constant = loaded.constants()[slot]) slots_[slot] = constant->range();
        uint64_t offset = offsets_[slot];
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
        auto slot = static_cast<size_t>(result_slots_[k]);
        const BufferRange& given = bindings_.results[k];
        if (given.buffer == VK_NULL_HANDLE &&
            !result_needs_memory(program, *plan_, result_slots_, k))
            continue;
        const std::string& name = program.buffers[slot].name;
        results_[k] = narrowed(given, plan_->slot_bytes[slot], program.name, name);
        if (slots_[slot].buffer == VK_NULL_HANDLE) slots_[slot] = results_[k];
    }
}

std::vector<RangeCopy> PreparedCall::result_copies(const std::vector<int>& ends) const {
    std::vector<RangeCopy> copies;
    for (size_t k = 0; k < ends.size(); ++k) {
        const BufferRange& from = slots_[static_cast<size_t>(ends[k])];
        if (results_[k].buffer != VK_NULL_HANDLE && from != results_[k])
            copies.push_back({from, results_[k]});
    }
    return copies;
}

void PreparedCall::refuse_foreign(const Program& program) const {
    const CallUsage usage = usage_of(program, *plan_, result_slots_);
    check_foreign(bindings_.scratch, usage.scratch, program.name, "scratch");
    for (size_t k = 0; k < results_.size(); ++k)
        check_foreign(results_[k], usage.results[k], program.name, "result " + std::to_string(k));
    for (const ArgumentInfo& info : program.arguments)
        if (!info.scalar && info.buffer >= 0)
            check_foreign(slots_[static_cast<size_t>(info.buffer)],
                          usage.slots[static_cast<size_t>(info.buffer)], program.name, info.name);
}

void PreparedCall::refuse_aliases(const Program& program) const {
    struct Use {
        BufferRange range;
        bool written = false;
        std::string_view name;
    };
    std::vector<Use> uses;
    for (size_t slot = 0; slot < slots_.size(); ++slot)
        if (slots_[slot].buffer != VK_NULL_HANDLE && offsets_[slot] == UINT64_MAX)
            uses.push_back({slots_[slot], plan_->slot_written[slot], program.buffers[slot].name});
    for (const RangeCopy& copy : final_copies_)
        uses.push_back({copy.target, true, "a copied result"});
    for (size_t a = 0; a < uses.size(); ++a)
        for (size_t b = 0; b < a; ++b)
            if ((uses[a].written || uses[b].written) && overlap(uses[a].range, uses[b].range))
                throw UserError("program '" + program.name + "': '" + std::string(uses[b].name) +
                                "' and '" + std::string(uses[a].name) +
                                "' were given the same memory and one of them is "
                                "written; give each its own");
}

std::vector<int> PreparedCall::bind(const LoadedProgram& loaded, const Program& program,
                                    std::span<const PlannedSet> sets) {
    std::vector<PlannedSet> missing;
    std::vector<int> places;
    try {
        for (const PlannedSet& set : sets) {
            auto place = places_.find(set);
            if (place == places_.end()) {
                missing.push_back(set);
                place = places_.emplace(set, static_cast<int>(bound_.size() + missing.size()) - 1)
                            .first;
            }
            places.push_back(place->second);
        }
        if (!missing.empty()) make_sets(loaded, program, missing);
    } catch (...) {
        for (const PlannedSet& set : missing) places_.erase(set);
        throw;
    }
    return places;
}

void PreparedCall::make_sets(const LoadedProgram& loaded, const Program& program,
                             std::span<const PlannedSet> sets) {
    std::vector<SetRequest> requests;
    BufferRange params = bindings_.scratch;
    params.offset += plan_->scratch_params;
    if (plan_->scratch_param_bytes > 0)
        ensure(plan_->scratch_bytes <= bindings_.scratch.bytes, "the scratch memory is too small");
    for (const PlannedSet& set : sets) {
        SetRequest request;
        request.pipeline = &loaded.pipeline(set.kernel);
        for (int slot : set.slots) {
            const BufferRange& range = slots_[static_cast<size_t>(slot)];
            const std::string& name = program.buffers[static_cast<size_t>(slot)].name;
            ensure(range.buffer != VK_NULL_HANDLE, "a buffer of a program has no memory");
            request.buffers.push_back(range);
            request.names.push_back(&name);
        }
        request.params = params;
        request.params.bytes = request.pipeline->param_bytes();
        requests.push_back(std::move(request));
    }
    sets_.push_back(std::make_unique<DescriptorSets>(device_, requests, "sets of " + program.name));
    for (size_t i = 0; i < requests.size(); ++i) {
        const Pipeline& pipeline = *requests[i].pipeline;
        bound_.push_back({pipeline.handle(), pipeline.layout(), sets_.back()->sets()[i],
                          pipeline.params_in_buffer() ? 0 : pipeline.param_bytes(),
                          pipeline.params_in_buffer()});
    }
}

void PreparedCall::give_addresses(const PlannedSteps& plan, PatchedParams& params) const {
    for (const AddressPatch& patch : plan.addresses) {
        const BufferRange& range = slots_[static_cast<size_t>(patch.slot)];
        ensure(range.buffer != VK_NULL_HANDLE, "a buffer of a program has no memory");
        VkBufferDeviceAddressInfo info{VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO};
        info.buffer = range.buffer;
        const uint64_t address =
            device_.vk().vkGetBufferDeviceAddress(device_.handle(), &info) + range.offset;
        std::memcpy(&params.bytes[patch.offset], &address, sizeof address);
    }
}

void PreparedCall::copy(VkCommandBuffer commands, const RangeCopy& copy) const {
    if (copy.source == copy.target) return;
    VkBufferCopy region{copy.source.offset, copy.target.offset,
                        std::min(copy.source.bytes, copy.target.bytes)};
    device_.vk().vkCmdCopyBuffer(commands, copy.source.buffer, copy.target.buffer, 1, &region);
}

/// Parameters that are too many for push constants travel inside the command buffer.
void PreparedCall::upload_params(VkCommandBuffer commands, const PlannedSteps& plan,
                                 const PatchedParams& params) const {
    if (plan.buffer_params == 0) return;
    for (uint64_t done = 0; done < plan.buffer_params; done += kUpdateBytes) {
        uint64_t bytes = std::min(kUpdateBytes, plan.buffer_params - done);
        device_.vk().vkCmdUpdateBuffer(commands, bindings_.scratch.buffer,
                                       bindings_.scratch.offset + plan_->scratch_params + done,
                                       bytes, params.bytes.data() + done);
    }
    barrier_compute(device_, commands);
}

void record(PreparedCall& call, VkCommandBuffer commands, const std::vector<Scalar>& scalars,
            Timestamps* timestamps) {
    const CallPlan& plan = *call.plan_;
    if (plan.in_parts)
        throw UserError("a program with a loop whose end only the data knows, or of more than " +
                        std::to_string(kMostFlatSteps) +
                        " dispatches, cannot be recorded into one command buffer; give "
                        "its loops fewer iterations (while_ takes max_steps)");
    patch_params(plan, scalars, call.params_);
    record_steps(call, commands, {plan, call.own_sets_, call.params_, 0, plan.steps.size()},
                 timestamps);
    record_copies(call, commands, call.final_copies_);
}

void record_copies(const PreparedCall& call, VkCommandBuffer commands,
                   const std::vector<RangeCopy>& copies) {
    if (copies.empty()) return;
    barrier_compute(call.device_, commands);
    for (const RangeCopy& copy : copies) call.copy(commands, copy);
}

void record_steps(const PreparedCall& call, VkCommandBuffer commands, const RecordedSteps& part,
                  Timestamps* timestamps) {
    const VolkDeviceTable& vk = call.device_.vk();
    if (part.first == 0) call.upload_params(commands, part.plan, part.params);
    if (timestamps) {
        timestamps->reset(commands);
        timestamps->mark(commands);
    }
    VkPipeline bound_pipeline = VK_NULL_HANDLE;
    VkDescriptorSet bound_set = VK_NULL_HANDLE;
    for (size_t at = part.first; at < part.last; ++at) {
        const PlannedStep& step = part.plan.steps[at];
        if (step.barrier_before) barrier_compute(call.device_, commands, part.plan.indirect);
        if (step.binding_set < 0) {
            call.copy(commands, {call.slots_[static_cast<size_t>(step.source)],
                                 call.slots_[static_cast<size_t>(step.target)]});
        } else {
            const auto place =
                static_cast<size_t>(part.sets[static_cast<size_t>(step.binding_set)]);
            const PreparedCall::BoundSet& set = call.bound_[place];
            if (set.pipeline != bound_pipeline)
                vk.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, set.pipeline);
            if (set.set != bound_set || set.params_in_buffer)
                vk.vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, set.layout, 0,
                                           1, &set.set, set.params_in_buffer ? 1 : 0,
                                           &step.param_offset);
            if (set.push_bytes > 0)
                vk.vkCmdPushConstants(commands, set.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                      set.push_bytes, part.params.bytes.data() + step.param_offset);
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
}

}  // namespace firn
