// Recording and submitting calls of the C interface.
#include "engine/c/call.h"
#include "engine/gpu/commands.h"

namespace firn::c {
namespace {

std::vector<SemaphoreWait> waits_of(const firn_submit_info& info) {
    if (info.wait_count > 0 && !info.waits) fail("firn_submit_info.waits is NULL and has a count");
    std::vector<SemaphoreWait> waits;
    for (uint32_t k = 0; k < info.wait_count; ++k)
        waits.push_back({(VkSemaphore)info.waits[k].semaphore, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         info.waits[k].value});
    return waits;
}

std::vector<SemaphoreSignal> signals_of(const firn_submit_info& info) {
    if (info.signal_count > 0 && !info.signals)
        fail("firn_submit_info.signals is NULL and has a count");
    std::vector<SemaphoreSignal> signals;
    for (uint32_t k = 0; k < info.signal_count; ++k)
        signals.push_back({(VkSemaphore)info.signals[k].semaphore, info.signals[k].value});
    return signals;
}

void note_use(const firn_call& call, TimelinePoint point) {
    const auto note = [&](const std::shared_ptr<Buffer>& buffer) {
        if (buffer) buffer->used_at(point, true);
    };
    for (const auto& buffer : call.own_arguments) note(buffer);
    for (const auto& buffer : call.own_results) note(buffer);
    note(call.own_scratch);
    for (const BoundImage& image : call.images) note(image.packed);
    for (const auto& constant : call.loaded->constants())
        if (constant) constant->used_at(point, false);
}

/// A run whose steps are found as it runs: the executor makes it, in as many submissions as it
/// takes.
TimelinePoint run_in_parts(firn_call& call, const firn_submit_info& info) {
    if (info.flags & FIRN_SUBMIT_TIMED)
        fail(FIRN_ERROR_UNSUPPORTED,
             "the program has a loop whose end only the data knows, and is not timed");
    if (info.wait_count > 0 || info.signal_count > 0)
        fail(FIRN_ERROR_UNSUPPORTED,
             "the program has a loop whose end only the data knows, so that it takes several "
             "submissions, and cannot wait for semaphores or signal them; order it by firn_wait");
    if (!call.images.empty())
        fail(FIRN_ERROR_UNSUPPORTED,
             "the program has a loop whose end only the data knows, and runs on buffers alone; "
             "copy the images by commands of the host");
    Call run;
    run.symbols = call.symbols;
    run.scalars = call.scalars;
    for (size_t k = 0; k < call.program->arguments.size(); ++k) {
        if (!call.program->arguments[k].scalar && !call.own_arguments[k])
            fail(FIRN_ERROR_UNSUPPORTED,
                 "the program has a loop whose end only the data knows, and runs on buffers of "
                 "Firn's alone; use firn_buffer_create");
        run.arguments.push_back(call.own_arguments[k]);
    }
    for (const auto& result : call.own_results) {
        if (!result)
            fail(FIRN_ERROR_UNSUPPORTED,
                 "the program has a loop whose end only the data knows, and runs on buffers of "
                 "Firn's alone; use firn_buffer_create");
        run.results.push_back(result);
    }
    call.context->executor->run(call.program, run);
    return call.context->device->last_submitted();
}

/// The call's commands, with those of its images.
void record_call(firn_call& call, VkCommandBuffer commands, Timestamps* timestamps) {
    record_images(*call.context, call.images, commands, false);
    record(*call.prepared, commands, call.scalars, timestamps);
    record_images(*call.context, call.images, commands, true);
}

TimelinePoint run_at_once(firn_call& call, const firn_submit_info& info) {
    Device& device = *call.context->device;
    const std::vector<SemaphoreWait> waits = waits_of(info);
    const std::vector<SemaphoreSignal> signals = signals_of(info);
    std::unique_ptr<Timestamps> timestamps;
    if (info.flags & FIRN_SUBMIT_TIMED) {
        if (device.timestamp_period() <= 0)
            fail(FIRN_ERROR_UNSUPPORTED, "the queue has no timestamps, so that nothing is timed");
        timestamps = std::make_unique<Timestamps>(
            device, static_cast<uint32_t>(call.plan->steps.size() + 1), "a timed call");
    }
    CommandBuffer& commands = call.context->commands->take();
    begin(device, commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    barrier_all(device, commands.handle);
    record_call(call, commands.handle, timestamps.get());
    barrier_compute_to(device, commands.handle, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                       VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
    barrier_compute_to(device, commands.handle, VK_PIPELINE_STAGE_HOST_BIT,
                       VK_ACCESS_HOST_READ_BIT);
    end(device, commands);
    commands.busy_until = device.submit({&commands.handle, 1}, waits, signals);
    if (timestamps) {
        call.timestamps = std::move(timestamps);
        call.timed_at = commands.busy_until;
    }
    return commands.busy_until;
}

}  // namespace
}  // namespace firn::c

using namespace firn::c;

int32_t firn_record(firn_call* call, const firn_record_info* info, firn_record_done* done) {
    if (!call) return FIRN_ERROR_ARGUMENT;
    return guarded(call->context, [&] {
        const firn_record_info given = taken(info, "firn_record_info");
        const auto commands = static_cast<VkCommandBuffer>(given.command_buffer);
        if (!commands) fail("firn_record_info.command_buffer is NULL; give one that is recorded");
        if (given.flags & ~FIRN_RECORD_BARRIERS)
            fail("firn_record_info.flags has a bit that this library does not know");
        if (given.frame < call->context->frame)
            fail("frame " + std::to_string(given.frame) + " comes after frame " +
                 std::to_string(call->context->frame) + "; the number of frames never falls");
        require_memory(*call);
        if (!call->prepared)
            fail(FIRN_ERROR_UNSUPPORTED,
                 "the program has a loop whose end only the data knows, so that it cannot be "
                 "recorded; use firn_submit, or save it with max_steps");
        firn::Device& device = *call->context->device;
        call->context->frame = given.frame;
        device.in_frame(given.frame);
        if (given.flags & FIRN_RECORD_BARRIERS) firn::barrier_all(device, commands);
        record_call(*call, commands, nullptr);
        if (given.flags & FIRN_RECORD_BARRIERS)
            firn::barrier_compute_to(device, commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                     VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT);
        if (!done) return;
        firn_record_done out{};
        out.stages = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
        if (call->plan->indirect) out.stages |= VK_PIPELINE_STAGE_DRAW_INDIRECT_BIT;
        out.read_access = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
        out.write_access = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
        out.dispatches = static_cast<uint32_t>(call->plan->dispatches);
        out.barriers = static_cast<uint32_t>(call->plan->barriers);
        give(done, out, "firn_record_done");
    });
}

int32_t firn_submit(firn_call* call, const firn_submit_info* info, uint64_t* point) {
    if (!call) return FIRN_ERROR_ARGUMENT;
    return guarded(call->context, [&] {
        const firn_submit_info given = info ? taken(info, "firn_submit_info") : firn_submit_info{};
        require_memory(*call);
        if (given.flags & ~FIRN_SUBMIT_TIMED)
            fail("firn_submit_info.flags has a bit that this library does not know");
        if (!call->context->commands)
            fail(FIRN_ERROR_UNSUPPORTED,
                 "the context has no queue of the host's, so that it submits nothing; record the "
                 "call by firn_record, or give a queue to firn_context_create");
        const firn::TimelinePoint end =
            call->prepared ? run_at_once(*call, given) : run_in_parts(*call, given);
        note_use(*call, end);
        call->context->collect();
        if (point) *point = end;
    });
}

int32_t firn_times(firn_call* call, firn_kernel_time* rows, uint32_t* count) {
    if (!call) return FIRN_ERROR_ARGUMENT;
    return guarded(call->context, [&] {
        if (!count) fail("the place for the count is NULL; give one");
        if (!call->timestamps) fail("the call was not timed; submit it with FIRN_SUBMIT_TIMED");
        call->context->device->wait(call->timed_at);
        const std::vector<double> marks = call->timestamps->read();
        std::vector<firn_kernel_time> all(call->program->kernels.size());
        for (size_t k = 0; k < all.size(); ++k)
            all[k].name = call->program->kernels[k].name.c_str();
        const auto& steps = call->plan->steps;
        for (size_t k = 0; k < steps.size() && k + 1 < marks.size(); ++k) {
            if (steps[k].binding_set < 0) continue;
            const auto set = static_cast<size_t>(steps[k].binding_set);
            firn_kernel_time& time = all[static_cast<size_t>(call->plan->sets[set].kernel)];
            time.milliseconds += marks[k + 1] - marks[k];
            ++time.dispatches;
        }
        const uint32_t room = *count;
        *count = static_cast<uint32_t>(all.size());
        if (rows) std::copy_n(all.begin(), std::min<size_t>(room, all.size()), rows);
    });
}

int32_t firn_wait(firn_context* context, uint64_t point) {
    return guarded(context, [&] {
        if (point > context->device->last_submitted())
            fail("nothing that was submitted reaches the point " + std::to_string(point) +
                 "; give one of firn_submit");
        if (point > 0)
            context->device->wait(point);
        else if (context->device->queue())
            context->device->wait_idle();
        context->collect();
    });
}
