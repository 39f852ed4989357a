// Adds a program's notes about itself, once its steps are known.
#include "compiler/plan/plan_notes.h"

#include <algorithm>
#include <string>

#include "compiler/kernel/bindings.h"

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

void note_assumed(Program& program, const SymbolFacts& facts) {
    std::vector<AssumedSize>& all = program.assumed;
    for_dispatches(program.steps, [&](const DispatchStep& step) {
        const std::vector<BindingInfo>& bindings =
            program.kernels[static_cast<size_t>(step.kernel)].bindings;
        for (size_t k = 0; k < bindings.size(); ++k) {
            const BufferInfo& info = program.buffers[static_cast<size_t>(step.buffers[k])];
            const AssumedSize size = assumed_size(
                {step.buffers[k], info.dtype, info.elements, bindings[k].form, bindings[k].width},
                program.profile);
            const bool open = size.size.upper_bound(facts.largest) > size.most;
            if (open && std::find(all.begin(), all.end(), size) == all.end()) all.push_back(size);
        }
    });
}

void add_verdicts(Program& program, const std::vector<ValueVerdict>& verdicts) {
    for (const ValueVerdict& v : verdicts) program.verdicts.push_back(info_of(v));
}

}  // namespace firn
