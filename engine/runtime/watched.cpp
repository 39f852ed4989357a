// Watches programs for the inspector: their calls, temporaries and edited kernels.
#include <algorithm>
#include <utility>

#include "engine/runtime/vulkan_executor.h"

namespace firn {

void VulkanExecutor::set_watching(bool on) {
    watching_ = on;
    observed_ = {};
    for (auto& [key, loaded] : programs_) loaded.watched = {};
}

void VulkanExecutor::watch(Loaded& loaded, const std::shared_ptr<const Program>& program,
                           const Call& call) {
    WatchedCall& watched = loaded.watched;
    watched.program = program;
    watched.call = call;
    watched.number = loaded.number;
    watched.temporary = nullptr;
    ++watched.runs;
}

void VulkanExecutor::watch_temporary(const std::shared_ptr<const Program>& program, int buffer) {
    if (program && observed_.of.lock() == program && observed_.buffer == buffer) return;
    observed_ = {};
    if (!program) return;
    auto giving = std::make_shared<Program>(*program);
    BufferInfo& kept = giving->buffers.at(static_cast<size_t>(buffer));
    if (kept.role != BufferRole::Temporary)
        throw InternalError("'" + kept.name + "' of program '" + program->name +
                            "' is no temporary");
    kept.role = BufferRole::Result;
    giving->results.push_back({kept.dtype, {kept.elements}, buffer});
    observed_ = {program, buffer, std::move(giving), nullptr};
}

void VulkanExecutor::run_watched(const std::shared_ptr<const Program>& program, const Call& call) {
    if (observed_.program && observed_.of.lock() == program) return run_observed(program, call);
    run_call(program, call, RunKind::Own);
}

void VulkanExecutor::time_next_run(const std::shared_ptr<const Program>& program,
                                   std::function<void(double seconds)> take) {
    timed_ = {program, std::move(take)};
}

void VulkanExecutor::run_timed(const std::shared_ptr<const Program>& program, const Call& call) {
    const std::function<void(double)> take = std::exchange(timed_, {}).take;
    device_->wait_idle();  // for earlier work
    const double begin = trace_now();
    run_watched(program, call);
    device_->wait_idle();
    take(trace_now() - begin);
}

void VulkanExecutor::run_observed(const std::shared_ptr<const Program>& program, const Call& call) {
    // While the program is loaded, the person may choose another one.
    Observed now = observed_;
    Loaded& own = load(program);
    Loaded& observed = load(now.program);
    observed.number = own.number;  // its times count as the program's
    observed.loaded->take_pipelines(*own.loaded);
    const auto bytes = static_cast<uint64_t>(
        program->buffers[static_cast<size_t>(now.buffer)].bytes().evaluate(call.symbols));
    if (!now.memory || now.memory->bytes() < bytes)
        now.memory = create_buffer(device_, bytes, "observed temporary");
    Call giving = call;
    giving.results.push_back(now.memory);
    run_call(now.program, giving, RunKind::Observed);
    if (!watching_) return;
    watch(own, program, call);
    own.watched.temporary = now.memory;
    if (observed_.program == now.program) observed_.memory = now.memory;
}

std::vector<WatchedCall> VulkanExecutor::watched() const {
    std::vector<WatchedCall> out;
    for (const auto& [key, loaded] : programs_)
        if (loaded.watched.program) out.push_back(loaded.watched);
    std::sort(out.begin(), out.end(),
              [](const WatchedCall& a, const WatchedCall& b) { return a.number < b.number; });
    return out;
}

void VulkanExecutor::replace_kernel(const std::shared_ptr<const Program>& program, size_t kernel,
                                    const KernelInfo& code) {
    Loaded& loaded = load(program);
    loaded.loaded->replace_pipeline(kernel, shared_pipeline(*device_, code));
    const std::string& name = program->kernels[kernel].name;
    const bool edited = code.artefact.words != program->kernels[kernel].artefact.words;
    device_->suspect(edited ? "the edited kernel '" + name + "'" : "");
    forget_entries(loaded);
    if (observed_.program && observed_.of.lock() == program) {
        const auto observed = programs_.find(observed_.program.get());
        if (observed != programs_.end()) forget_entries(observed->second);
    }
}

/// Drops bindings and recordings, which have the old pipelines.
void VulkanExecutor::forget_entries(Loaded& loaded) {
    for (Entry& entry : loaded.entries) drop(entry);
    loaded.entries.clear();
}

}  // namespace firn
