// Dispatches of a program, and the kernels that they share.
#include "compiler/plan/dispatches.h"

#include <algorithm>
#include <utility>

#include "compiler/lower/data_sizes.h"
#include "compiler/mapping/mapping.h"
#include "compiler/plan/plan_kernel.h"
#include "compiler/plan/tuned.h"
#include "compiler/program/stage_timer.h"

namespace firn {
namespace {

KernelInfo emitted(PlanRun& run, const KernelCode& code) {
    const StageTimer timer(run.times.emit);
    return kernel_info(code, run.profile);
}

/// Equal kernels are looked up once.
const KernelTuning& tuning_of(PlanRun& run, const std::string& glsl) {
    const auto [at, added] = run.tunings.try_emplace(glsl);
    if (added) {
        at->second.key = tuning_key(glsl, run.profile, run.options.facts);
        at->second.found = find_tuned(at->second.key, run.options);
    }
    return at->second;
}

/// Whether some of its sizes are known by the device alone.
bool take_sizes(PlanRun& run, KernelCode& code, DispatchStep& step) {
    const NeededSizes needed = needed_sizes(code, run.profile);
    std::vector<Size> all = needed.params;
    all.insert(all.end(), needed.groups.begin(), needed.groups.end());
    if (all.empty()) return false;
    const auto [buffer, at] = run.sizes.place(all);
    bind_sizes(code, buffer, at);
    if (needed.groups.empty()) return true;
    step.sizes_binding = code.sizes_buffer;
    step.sizes_groups = at + static_cast<int64_t>(needed.params.size());
    return true;
}

void add_lines(std::vector<std::string>& lines, const std::vector<Ref>& outputs) {
    for (const Ref& r : outputs)
        for (const SourceLine& line : r->lines)
            if (std::find(lines.begin(), lines.end(), text(line)) == lines.end() &&
                lines.size() < 8)
                lines.push_back(text(line));
}

/// The kernel's place in the program; an equal one is shared.
int kernel_of(PlanRun& run, KernelCode code, KernelInfo info, const std::vector<Ref>& outputs) {
    check_limits(code, run.profile, outputs.empty() ? std::string() : at_line(*outputs[0]));
    std::vector<KernelInfo>& all = run.program->kernels;
    std::string key = info.glsl;
    for (const ParamInfo& p : code.params) key += p.dtype.name();
    if (auto it = run.kernels.find(key); it != run.kernels.end()) {
        add_lines(all[static_cast<size_t>(it->second)].lines, outputs);
        return it->second;
    }
    const int id = static_cast<int>(all.size());
    add_lines(info.lines, outputs);
    info.name = "k" + std::to_string(id) + (info.lines.empty() ? "" : " " + info.lines[0]);
    if (info.lines.empty() && !code.name.empty()) info.name += " " + code.name;
    code.name = info.name;
    info.code = std::make_shared<KernelCode>(std::move(code));
    if (run.options.trace)
        run.options.trace->kernels.push_back({info.name, std::exchange(run.trail, {})});
    all.push_back(std::move(info));
    run.kernels.emplace(std::move(key), id);
    return id;
}

}  // namespace

Work largest(const Work& work) {
    return {largest(work.operations), largest(work.bytes_read), largest(work.bytes_written)};
}

void add_dispatch(PlanRun& run, MappedKernel made, const Work& work,
                  const std::vector<Ref>& outputs, std::vector<Step>& out) {
    DispatchStep step;
    step.work = largest(work);
    const bool on_device = take_sizes(run, made.code, step);
    KernelInfo info = emitted(run, made.code);
    if (made.lowered && !on_device) {
        info.mapping = text(made.mapping);
        const KernelTuning& tuning = tuning_of(run, info.glsl);
        info.tuning_key = tuning.key;
        if (tuning.found)
            if (auto code = remap(*made.lowered, *tuning.found, run.profile, run.options.facts)) {
                made.code = std::move(*code);
                info = emitted(run, made.code);
                info.mapping = text(*tuning.found), info.tuning_key = tuning.key;
                info.tuned = true;
            }
        step.lowered = std::move(made.lowered);
    }
    launch_as(step, made.code);
    step.kernel = kernel_of(run, std::move(made.code), std::move(info), outputs);
    out.push_back({std::move(step)});
}

DispatchStep dispatch_of(PlanRun& run, KernelCode code, const Work& work,
                         const std::string& mapping, const std::vector<std::string>& lines) {
    DispatchStep step;
    step.work = work;
    launch_as(step, code);
    KernelInfo info = emitted(run, code);
    info.lines = lines;
    info.mapping = mapping;
    step.kernel = kernel_of(run, std::move(code), std::move(info), {});
    return step;
}

}  // namespace firn
