// What a program gives back and says of itself, once its steps are known.
#include "compiler/plan/plan_results.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "compiler/kernel/bindings.h"
#include "compiler/plan/plan_buffers.h"

namespace firn {
namespace {

VerdictInfo info_of(const ValueVerdict& v) {
    VerdictInfo row;
    row.value =
        std::string(info(v.value->op).name) + " " + v.value->dtype.name() + text(v.value->shape);
    row.verdict = v.verdict == Verdict::Inlined  ? "inlined"
                  : v.verdict == Verdict::Staged ? "staged"
                                                 : "materialised";
    row.stage_seconds = v.stage_seconds;
    row.reason = v.reason;
    for (const SourceLine& line : v.value->lines)
        row.lines += (row.lines.empty() ? "" : ", ") + text(line);
    row.inline_seconds = v.inline_seconds;
    row.materialise_seconds = v.materialise_seconds;
    return row;
}

}  // namespace

void add_results(PlanRun& run) {
    Program& program = *run.program;
    const std::vector<Ref>& values = run.graph.results;
    const auto role = [&](int buffer) -> BufferRole& {
        return program.buffers[static_cast<size_t>(buffer)].role;
    };
    std::set<int> taken;
    for (const Size& size : run.graph.data_sizes) {
        const int buffer = run.context.buffers.at(values[program.results.size()].get());
        // A count that was given is given back as it is.
        if (role(buffer) == BufferRole::Temporary && taken.insert(buffer).second)
            role(buffer) = BufferRole::Result;
        program.results.push_back({i32, {}, buffer});
        program.data_sizes.push_back({size, buffer});
    }
    for (size_t k = program.results.size(); k < values.size(); ++k) {
        const Ref& r = values[k];
        int buffer = run.context.buffers.at(r.get());
        if (role(buffer) != BufferRole::Temporary || !taken.insert(buffer).second) {
            const int copy = add_buffer(run, "result", r->dtype, element_count(largest(r->shape)));
            program.steps.emplace_back().step = CopyStep{buffer, copy};
            buffer = copy;
        }
        role(buffer) = BufferRole::Result;
        program.results.push_back({r->dtype, r->shape, buffer});
    }
}

void note_assumed(PlanRun& run) {
    Program& program = *run.program;
    std::vector<AssumedSize>& all = program.assumed;
    for_dispatches(program.steps, [&](const DispatchStep& step) {
        const std::vector<BindingInfo>& bindings =
            program.kernels[static_cast<size_t>(step.kernel)].bindings;
        for (size_t k = 0; k < bindings.size(); ++k) {
            const BufferInfo& info = program.buffers[static_cast<size_t>(step.buffers[k])];
            const AssumedSize size = assumed_size(
                {step.buffers[k], info.dtype, info.elements, bindings[k].form, bindings[k].width},
                run.profile);
            const bool open = size.size.upper_bound(run.options.facts.largest) > size.most;
            if (open && std::find(all.begin(), all.end(), size) == all.end()) all.push_back(size);
        }
    });
}

void add_verdicts(PlanRun& run) {
    for (const ValueVerdict& v : run.schedule.verdicts) run.program->verdicts.push_back(info_of(v));
}

}  // namespace firn
