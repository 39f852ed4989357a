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

/// What is emitted for the code; once for all that is equal to it.
KnownKernel& known_kernel(PlanRun& run, const KernelCode& code) {
    const StageTimer timer(run.times.emit);
    const auto [at, added] = run.kernels.try_emplace(structure_of(code));
    if (added) at->second.info = kernel_info(code, run.profile);
    return at->second;
}

const KernelTuning& tuning_of(PlanRun& run, KnownKernel& known) {
    if (!known.tuning) {
        const std::string key = tuning_key(known.info.glsl, run.profile, run.options.facts);
        known.tuning = {key, find_tuned(key, run.options)};
    }
    return *known.tuning;
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

/// What the program says of a kernel, as its first dispatch does.
struct KernelLabel {
    std::string mapping, tuning_key;
    bool tuned = false;
    std::vector<std::string> lines;
};

/// The kernel's place in the program; an equal one is shared.
int place_of(PlanRun& run, KnownKernel& known, KernelCode code, KernelLabel label,
             const std::vector<Ref>& outputs) {
    check_limits(code, run.profile, outputs.empty() ? std::string() : at_line(*outputs[0]));
    std::vector<KernelInfo>& all = run.program->kernels;
    if (known.place >= 0) {
        KernelInfo& shared = all[static_cast<size_t>(known.place)];
        add_lines(shared.lines, outputs);
        auto widened = std::make_shared<KernelCode>(*shared.code);
        widen(*widened, code);
        shared.back_edges = widened->back_edges, shared.guards = widened->guards;
        shared.code = std::move(widened);
        return known.place;
    }
    known.place = static_cast<int>(all.size());
    KernelInfo info = known.info;
    info.mapping = std::move(label.mapping), info.tuning_key = std::move(label.tuning_key);
    info.tuned = label.tuned;
    info.lines = std::move(label.lines);
    add_lines(info.lines, outputs);
    info.name = "k" + std::to_string(known.place) + (info.lines.empty() ? "" : " " + info.lines[0]);
    if (info.lines.empty() && !code.name.empty()) info.name += " " + code.name;
    code.name = info.name;
    info.code = std::make_shared<KernelCode>(std::move(code));
    if (run.options.trace)
        run.options.trace->kernels.push_back({info.name, std::exchange(run.trail, {})});
    all.push_back(std::move(info));
    return known.place;
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
    KnownKernel* known = &known_kernel(run, made.code);
    KernelLabel label;
    if (made.lowered && !on_device) {
        const KernelTuning& tuning = tuning_of(run, *known);
        label.mapping = text(made.mapping), label.tuning_key = tuning.key;
        if (tuning.found)
            if (auto code = remap(*made.lowered, *tuning.found, run.profile, run.options.facts)) {
                made.code = std::move(*code);
                known = &known_kernel(run, made.code);
                label.mapping = text(*tuning.found), label.tuned = true;
            }
        step.lowered = std::move(made.lowered);
    }
    launch_as(step, made.code);
    step.kernel = place_of(run, *known, std::move(made.code), std::move(label), outputs);
    out.push_back({std::move(step)});
}

DispatchStep dispatch_of(PlanRun& run, KernelCode code, const Work& work,
                         const std::string& mapping, const std::vector<std::string>& lines) {
    DispatchStep step;
    step.work = work;
    launch_as(step, code);
    KnownKernel& known = known_kernel(run, code);
    step.kernel = place_of(run, known, std::move(code), {mapping, "", false, lines}, {});
    return step;
}

}  // namespace firn
