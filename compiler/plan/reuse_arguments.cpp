// Writes results over donated arguments.
#include "compiler/plan/reuse_arguments.h"

#include <algorithm>
#include <optional>

#include "compiler/plan/write_over.h"

namespace firn {
namespace {

/// Returns whether a run of the step asks the device whether to go on: the program may fail there,
/// after the steps before have run.
bool asks(const ListedStep& step) {
    const auto* listed = std::get_if<ListedLoop>(&step.step);
    return listed &&
           (listed->loop.alive >= 0 || std::any_of(listed->body.begin(), listed->body.end(), asks));
}

bool fits(const KernelList& list, int argument, int result) {
    const std::vector<ListedStep>& steps = list.steps;
    const BufferInfo &a = list.program->buffers[static_cast<size_t>(argument)],
                     &r = list.program->buffers[static_cast<size_t>(result)];
    if (a.dtype != r.dtype || !(a.elements == r.elements) || in_rotation(steps, result))
        return false;
    std::optional<size_t> last, first;
    for (size_t k = 0; k < steps.size(); ++k) {
        if (uses(steps[k], argument)) last = k;
        if (!first && uses(steps[k], result)) first = k;
        if (first && asks(steps[k])) return false;
    }
    if (!first || !last) return first.has_value();
    return *last < *first || (*last == *first && may_write_over(steps[*last], argument, result));
}

}  // namespace

void reuse_arguments(KernelList& list, const std::vector<bool>& donated) {
    Program& program = *list.program;
    for (size_t k = 0; k < donated.size(); ++k) {
        const int argument = program.arguments[k].buffer;
        if (!donated[k] || program.arguments[k].scalar || argument < 0) continue;
        for (ResultInfo& result : program.results) {
            const int old = result.buffer;
            if (program.buffers[static_cast<size_t>(old)].role != BufferRole::Result ||
                !fits(list, argument, old))
                continue;
            rename(list.steps, old, argument);
            program.buffers[static_cast<size_t>(old)].role = BufferRole::Temporary;
            for (ResultInfo& same : program.results)
                if (same.buffer == old) same.buffer = argument;
            break;
        }
    }
}

}  // namespace firn
