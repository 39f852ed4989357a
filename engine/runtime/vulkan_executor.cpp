// Runs programs on a Vulkan device: memory, replay of unchanged calls, kernel times.
#include "engine/runtime/vulkan_executor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "compiler/base/long_work.h"
#include "compiler/program/spirv_format.h"
#include "engine/gpu/check_device.h"

namespace firn {
namespace {

/// Memory rotates through a few states in a frame loop; each has an entry.
constexpr size_t kMostEntries = 32;
/// The predicted number of submissions from which on a run is made in parts: parts are recorded
/// anew each time.
constexpr double kWorthParts = 2.5;
/// The number of runs, and of their predicted seconds, by which the host may be ahead of the
/// device.
constexpr size_t kMostRunsAhead = 16;
constexpr double kMostSecondsAhead = 0.5;
/// Most profiled runs whose times are still on the device.
constexpr size_t kMostPendingTimes = 32;

/// The memory as this engine's buffer on this device.
Buffer& buffer_of(const Memory* memory, const Device& device, const std::string& program,
                  const std::string& what) {
    auto* buffer = dynamic_cast<Buffer*>(const_cast<Memory*>(memory));
    if (!buffer || &buffer->device() != &device)
        throw UserError("program '" + program + "': the memory of " + what +
                        " belongs to another device or session; copy the tensor over");
    return *buffer;
}

std::string argument_name(const Program& program, size_t k) {
    return "argument " + std::to_string(k) + " ('" + program.arguments[k].name + "')";
}

std::string result_name(size_t k) { return "result " + std::to_string(k); }

/// Binds the call's memory as ranges; results that are not wanted get memory that ends with the
/// run.
Bindings bind_call(const std::shared_ptr<Device>& device, const Program& program,
                   const CallPlan& plan, const std::vector<int>& result_slots, const Call& call,
                   std::vector<std::shared_ptr<Buffer>>& unwanted) {
    Bindings bindings;
    for (size_t k = 0; k < program.arguments.size(); ++k) {
        bool scalar = program.arguments[k].scalar;
        if (!scalar && !call.arguments[k])
            throw UserError("program '" + program.name + "' was called without " +
                            argument_name(program, k));
        bindings.arguments.push_back(scalar ? BufferRange{}
                                            : buffer_of(call.arguments[k].get(), *device,
                                                        program.name, argument_name(program, k))
                                                  .range());
    }
    for (size_t k = 0; k < program.results.size(); ++k) {
        if (call.results[k]) {
            bindings.results.push_back(
                buffer_of(call.results[k].get(), *device, program.name, result_name(k)).range());
        } else if (result_needs_memory(program, plan, result_slots, k)) {
            auto slot = static_cast<size_t>(result_slots[k]);
            unwanted.push_back(
                create_buffer(device, plan.slot_bytes[slot], "unwanted " + result_name(k)));
            bindings.results.push_back(unwanted.back()->range());
        } else {
            bindings.results.push_back({});
        }
    }
    return bindings;
}

/// Substitutes copies of the memory of arguments that the program writes over.
std::vector<RangeCopy> stand_ins(const std::shared_ptr<Device>& device, const Program& program,
                                 const CallPlan& plan, Bindings& bindings,
                                 std::vector<std::shared_ptr<Buffer>>& held) {
    std::vector<RangeCopy> copies;
    for (size_t k = 0; k < program.arguments.size(); ++k) {
        const auto slot = static_cast<size_t>(program.arguments[k].buffer);
        if (program.arguments[k].scalar || program.arguments[k].buffer < 0 ||
            !plan.slot_written[slot])
            continue;
        BufferRange& argument = bindings.arguments[k];
        const uint64_t bytes = std::min(argument.bytes, plan.slot_bytes[slot]);
        if (bytes == 0) continue;
        held.push_back(create_buffer(device, bytes, "stand-in of " + argument_name(program, k)));
        BufferRange given = argument;
        given.bytes = bytes;
        argument = held.back()->range();
        copies.push_back({given, argument});
        copies.back().target.bytes = bytes;
    }
    return copies;
}

std::vector<Scalar> declared_scalars(const Program& program, const std::vector<Scalar>& given) {
    std::vector<Scalar> scalars(program.arguments.size());
    for (size_t k = 0; k < scalars.size(); ++k)
        if (program.arguments[k].scalar) scalars[k] = given[k].to(program.arguments[k].dtype);
    return scalars;
}

/// Tells every buffer of the call until when it is in use.
void note_use(const Program& program, const CallPlan& plan, const Call& call, TimelinePoint point) {
    for (size_t k = 0; k < program.arguments.size(); ++k) {
        const ArgumentInfo& info = program.arguments[k];
        if (info.scalar) continue;
        bool written = info.buffer >= 0 && plan.slot_written[static_cast<size_t>(info.buffer)];
        static_cast<Buffer&>(*call.arguments[k]).used_at(point, written);
    }
    for (const auto& result : call.results)
        if (result) static_cast<Buffer&>(*result).used_at(point, true);
}

void check_call(const Program& program, const Call& call) {
    if (call.arguments.size() == program.arguments.size() &&
        call.scalars.size() == program.arguments.size() &&
        call.results.size() == program.results.size())
        return;
    throw UserError("program '" + program.name + "' takes " +
                    std::to_string(program.arguments.size()) + " arguments and gives " +
                    std::to_string(program.results.size()) + " results; it was called with " +
                    std::to_string(call.arguments.size()) + ", " +
                    std::to_string(call.scalars.size()) + " scalars and " +
                    std::to_string(call.results.size()) + " results");
}

}  // namespace

VulkanExecutor::VulkanExecutor(std::shared_ptr<Device> device)
    : device_(std::move(device)), commands_(*device_, "programs") {}

VulkanExecutor::~VulkanExecutor() {
    try {
        device_->wait_idle();
    } catch (const std::exception&) {
        // Pending work keeps its objects: all that ends here is deferred.
    }
}

std::shared_ptr<Memory> VulkanExecutor::allocate(uint64_t bytes, const std::string& name) {
    return within_memory("allocating", name, [&] { return create_buffer(device_, bytes, name); });
}

void VulkanExecutor::write(Memory& memory, uint64_t offset, std::span<const std::byte> data) {
    Buffer& buffer = buffer_of(&memory, *device_, "write", "a tensor");
    within_memory("writing to", buffer.name(), [&] { write_buffer(buffer, offset, data); });
}

const std::byte* VulkanExecutor::mapped(const Memory& memory) {
    const Buffer& buffer = buffer_of(&memory, *device_, "mapped", "a tensor");
    if (buffer.mapped()) device_->wait(buffer.written_at());
    return buffer.mapped();
}

std::byte* VulkanExecutor::map_for_writing(Memory& memory) {
    const Buffer& buffer = buffer_of(&memory, *device_, "mapped", "a tensor");
    if (buffer.mapped()) device_->wait(buffer.busy_until());
    return buffer.mapped();
}

void VulkanExecutor::read(const Memory& memory, uint64_t offset, std::span<std::byte> data) {
    const Buffer& buffer = buffer_of(&memory, *device_, "read", "a tensor");
    within_memory("reading", buffer.name(), [&] { read_buffer(buffer, offset, data); });
}

std::string why_cannot_run(const Program& program, const DeviceProfile& device) {
    for (const KernelInfo& kernel : program.kernels)
        if (kernel.artefact.format != kSpirvFormat)
            return "kernel '" + kernel.name + "' of program '" + program.name +
                   "' is of the format '" + kernel.artefact.format +
                   "' and this device runs SPIR-V";
    try {
        check_device(program, device);
        return "";
    } catch (const UserError& error) {
        return error.what();
    }
}

std::string VulkanExecutor::why_cannot_run(const Program& program) const {
    return firn::why_cannot_run(program, device_->profile());
}

std::shared_ptr<const void> VulkanExecutor::prepare(const Program& program) {
    device_->require_here();
    auto pipelines = std::make_shared<std::vector<std::shared_ptr<const Pipeline>>>();
    for (const KernelInfo& kernel : program.kernels)
        pipelines->push_back(shared_pipeline(*device_, kernel));
    return pipelines;
}

void VulkanExecutor::wait() {
    within_memory("waiting for", device_->info().name, [&] { device_->wait_idle(); });
}

VulkanExecutor::Loaded& VulkanExecutor::load(const std::shared_ptr<const Program>& program) {
    auto found = programs_.find(program.get());
    if (found != programs_.end()) {
        // A new program may have the address of one that has ended.
        if (found->second.program.lock() == program) return found->second;
        for (Entry& entry : found->second.entries) drop(entry);
        programs_.erase(found);
    }
    forget_ended_programs();
    Loaded loaded;
    loaded.program = program;
    loaded.number = ++loaded_programs_;
    const double begin = trace_now();
    loaded.loaded = std::make_unique<LoadedProgram>(device_, *program, with_line(compile_watch()));
    if (tracing_) {
        // Its compiler recorded how long it took; its first call follows at once.
        const double compiled =
            (program->compile_milliseconds + program->build_milliseconds) * 1e-3;
        trace_.push_back({"compile", "compile " + program->name, begin - compiled, begin});
        trace_.push_back({"compile", "pipelines of " + program->name, begin, trace_now()});
    }
    return programs_.emplace(program.get(), std::move(loaded)).first->second;
}

void VulkanExecutor::forget_ended_programs() {
    for (auto entry = programs_.begin(); entry != programs_.end();) {
        if (!entry->second.program.expired()) {
            ++entry;
            continue;
        }
        for (Entry& prepared : entry->second.entries) drop(prepared);
        entry = programs_.erase(entry);
    }
}

void VulkanExecutor::drop(Entry& entry) {
    if (entry.commands) commands_.release(*entry.commands);
    entry.commands = nullptr;
}

/// Makes the scratch memory that all programs share, because they run one after the other. If it
/// grows, bindings of the old one are dropped.
void VulkanExecutor::ensure_scratch(uint64_t bytes) {
    if (scratch_ && scratch_->bytes() >= bytes) return;
    for (auto& [key, loaded] : programs_) forget_entries(loaded);
    scratch_.reset();
    scratch_ = create_buffer(device_, bytes, "temporaries");
}

VulkanExecutor::Entry& VulkanExecutor::prepare(Loaded& loaded, const Program& program,
                                               std::shared_ptr<const CallPlan> plan,
                                               const Bindings& bindings,
                                               const std::vector<int>& result_slots) {
    auto found =
        std::find_if(loaded.entries.begin(), loaded.entries.end(), [&](const Entry& entry) {
            return entry.plan == plan && entry.call->bindings() == bindings &&
                   entry.call->result_slots() == result_slots;
        });
    if (found != loaded.entries.end()) {
        loaded.entries.splice(loaded.entries.begin(), loaded.entries, found);
        return loaded.entries.front();
    }
    Entry entry;
    entry.plan = plan;
    entry.call = std::make_unique<PreparedCall>(*loaded.loaded, program, std::move(plan), bindings,
                                                result_slots);
    ++counts_.preparations;
    loaded.entries.push_front(std::move(entry));
    if (loaded.entries.size() > kMostEntries) {
        drop(loaded.entries.back());
        loaded.entries.pop_back();
    }
    return loaded.entries.front();
}

/// Commands that may be submitted again while they are pending.
void VulkanExecutor::record_entry(Entry& entry, const std::vector<Scalar>& scalars) {
    drop(entry);
    CommandBuffer& commands = commands_.acquire();
    try {
        begin(*device_, commands, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
        barrier_all(*device_, commands.handle);
        record(*entry.call, commands.handle, scalars);
        barrier_compute_to(*device_, commands.handle, VK_PIPELINE_STAGE_HOST_BIT,
                           VK_ACCESS_HOST_READ_BIT);
        end(*device_, commands);
        entry.scalars = scalars;
    } catch (...) {
        commands_.release(commands);
        throw;
    }
    entry.commands = &commands;
    ++counts_.recordings;
}

void VulkanExecutor::run(const std::shared_ptr<const Program>& program, const Call& call) {
    device_->require_here();
    CancelScope::end_if_asked("running program", program->name);
    within_memory("running program", program->name, [&] {
        if (timed_.take && timed_.program.lock() == program) return run_timed(program, call);
        run_watched(program, call);
    });
}

void VulkanExecutor::run_call(const std::shared_ptr<const Program>& program, const Call& call,
                              RunKind kind) {
    check_call(*program, call);
    std::vector<Scalar> scalars = declared_scalars(*program, call.scalars);
    Loaded& loaded = load(program);
    std::shared_ptr<const CallPlan> plan = loaded.loaded->plan_to_run(*program, call.symbols);
    const std::vector<int> ends =
        plan->in_parts ? expected_result_slots(*program, call.symbols) : plan->result_slots;
    std::vector<std::shared_ptr<Buffer>> held;  // until the run is complete
    Bindings bindings = bind_call(device_, *program, *plan, ends, call, held);
    const bool in_parts = plan->in_parts || plan->seconds > kWorthParts * submission_seconds_;
    std::vector<RangeCopy> replaced;
    if (in_parts) replaced = stand_ins(device_, *program, *plan, bindings, held);
    if (plan->scratch_bytes > 0) {
        ensure_scratch(plan->scratch_bytes);
        bindings.scratch = scratch_->range();
    }
    if (watching_ && kind == RunKind::Own) watch(loaded, program, call);
    Entry& entry = prepare(loaded, *program, plan, bindings, ends);
    limit_ahead(plan->seconds);
    auto note = [&](TimelinePoint point) {
        note_use(*program, *plan, call, point);
        for (const auto& buffer : held) buffer->used_at(point, true);
        if (plan->scratch_bytes > 0) scratch_->used_at(point, true);
        for (const auto& constant : loaded.loaded->constants())
            if (constant) constant->used_at(point, false);
    };
    TimelinePoint end = 0;
    try {
        end = in_parts ? run_in_parts(loaded, entry, *program, call, scalars, std::move(replaced))
                       : submit(loaded, entry, *program, scalars);
    } catch (...) {
        note(device_->last_submitted());  // a part of it may be on its way
        throw;
    }
    ++counts_.runs;
    ahead_.push_back({end, plan->seconds});
    note(end);
}

/// Waits until a run of so many predicted seconds is not too far ahead of the device: submitted
/// work cannot be cancelled any more.
void VulkanExecutor::limit_ahead(double seconds) {
    for (const RunAhead& each : ahead_) seconds += each.seconds;
    while (ahead_.size() >= kMostRunsAhead || (ahead_.size() > 1 && seconds > kMostSecondsAhead)) {
        device_->wait(ahead_.front().end);
        seconds -= ahead_.front().seconds;
        ahead_.pop_front();
    }
}

TimelinePoint VulkanExecutor::submit(const Loaded& loaded, Entry& entry, const Program& program,
                                     const std::vector<Scalar>& scalars) {
    if (profiling_ && device_->timestamp_period() > 0)
        return run_profiled(loaded, entry, program, scalars);
    if (!entry.commands || entry.scalars != scalars) record_entry(entry, scalars);
    return entry.commands->busy_until = device_->enqueue(entry.commands->handle);
}

TimelinePoint VulkanExecutor::run_in_parts(Loaded& loaded, Entry& entry, const Program& program,
                                           const Call& call, const std::vector<Scalar>& scalars,
                                           std::vector<RangeCopy> stand_ins) {
    drop(entry);
    PartedCall parted{
        device_,  commands_,   *loaded.loaded,      program,   *entry.call, scalars,
        scratch_, loaded.pace, submission_seconds_, progress_, {},          std::move(stand_ins)};
    if (profiling_ && device_->timestamp_period() > 0)
        parted.times = [this, number = loaded.number](PendingTimes pending) {
            pending.program = number;
            add_times(std::move(pending));
        };
    PartedRun run(std::move(parted));
    std::vector<int> ends = entry.plan->result_slots;
    if (entry.plan->in_parts)
        ends = walk_steps(program, call.symbols, run, entry.plan->rotating.shared);
    else
        run.add(*entry.plan);
    const TimelinePoint point = run.finish(ends);
    counts_.parts += run.submissions();
    ++counts_.recordings;
    return point;
}

TimelinePoint VulkanExecutor::run_profiled(const Loaded& loaded, Entry& entry,
                                           const Program& program,
                                           const std::vector<Scalar>& scalars) {
    while (pending_times_.size() >= kMostPendingTimes) harvest_first();
    const CallPlan& plan = *entry.plan;
    PendingTimes& pending = pending_times_.emplace_back();
    pending.program = loaded.number;
    try {
        pending.timestamps = std::make_unique<Timestamps>(
            *device_, static_cast<uint32_t>(plan.steps.size()) + 1, "times of " + program.name);
        for (const PlannedStep& step : plan.steps) {
            if (step.binding_set < 0) {
                pending.names.push_back("copy");
                continue;
            }
            int kernel = plan.sets[static_cast<size_t>(step.binding_set)].kernel;
            pending.names.push_back(program.kernels[static_cast<size_t>(kernel)].name);
        }
        CommandBuffer& commands = commands_.take();
        begin(*device_, commands, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        barrier_all(*device_, commands.handle);
        record(*entry.call, commands.handle, scalars, pending.timestamps.get());
        barrier_compute_to(*device_, commands.handle, VK_PIPELINE_STAGE_HOST_BIT,
                           VK_ACCESS_HOST_READ_BIT);
        end(*device_, commands);
        commands.busy_until = pending.point = device_->enqueue(commands.handle);
    } catch (...) {
        pending_times_.pop_back();
        throw;
    }
    ++counts_.recordings;
    return pending.point;
}

void VulkanExecutor::add_times(PendingTimes pending) {
    while (pending_times_.size() >= kMostPendingTimes) harvest_first();
    pending_times_.push_back(std::move(pending));
}

/// Adds the times of the oldest run to the sums: all of them, or none and it stays.
void VulkanExecutor::harvest_first() {
    const PendingTimes& pending = pending_times_.front();
    device_->wait(pending.point);
    const std::vector<double> marks = pending.timestamps->read();
    auto time_of = [&](const std::string& name) {
        return std::find_if(times_.begin(), times_.end(), [&](const KernelTime& time) {
            return time.program == pending.program && time.name == name;
        });
    };
    for (const std::string& name : pending.names)
        if (time_of(name) == times_.end())
            times_.push_back({.name = name, .program = pending.program});
    for (size_t i = 0; i < pending.names.size(); ++i) {
        const auto time = time_of(pending.names[i]);
        time->milliseconds += marks[i + 1] - marks[i];
        ++time->dispatches;
    }
    if (tracing_) {
        const std::vector<double> clock = pending.timestamps->read_clock();
        for (size_t i = 0; i < pending.names.size(); ++i)
            trace_.push_back({"device", pending.names[i], device_clock_begin_ + clock[i],
                              device_clock_begin_ + clock[i + 1]});
    }
    pending_times_.pop_front();
}

void VulkanExecutor::set_tracing(bool on) {
    if (on && !tracing_ && device_->timestamp_period() > 0)
        device_clock_begin_ = device_clock_begin(*device_);
    tracing_ = on;
}

std::vector<KernelTime> VulkanExecutor::take_kernel_times() {
    return take_times_until(std::numeric_limits<TimelinePoint>::max());
}

std::vector<KernelTime> VulkanExecutor::take_ready_kernel_times() {
    return take_times_until(device_->completed());
}

std::vector<KernelTime> VulkanExecutor::take_times_until(TimelinePoint last) {
    within_memory("taking times of", device_->info().name, [&] {
        while (!pending_times_.empty() && pending_times_.front().point <= last) harvest_first();
    });
    for (KernelTime& time : times_) time.milliseconds /= std::max(time.dispatches, 1);
    return std::exchange(times_, {});
}

}  // namespace firn
