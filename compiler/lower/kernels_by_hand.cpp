// Kernels by hand as steps of a program.
#include "compiler/lower/kernels_by_hand.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/by_hand.h"
#include "compiler/lower/value_buffers.h"
#include "compiler/lower/value_kernels.h"

namespace firn {
namespace {

/// Gives target k of the kernel, as `version`, its old values; returns its buffer.
int start_target(LowerRun& run, const Node& kernel, size_t k, const Node& version,
                 const TargetUse& use, std::vector<ListedStep>& out) {
    const Ref& before = kernel.inputs[k + 3];
    const Node& entry = *kernel.as<LoopAttr>().body->args[k + 1];
    // An unset value is not read before it is stored to.
    const bool unset = before->op == Op::Empty && !use.read_apart;
    if (use.covered || unset) return value_buffer(run, version);
    const auto from = run.context.buffers.find(before.get());
    if (from != run.context.buffers.end()) {
        if (!use.read_apart) return version_buffer(run, version, *before, from->second, out);
        const int at = from->second, to = value_buffer(run, version);
        run.context.buffers[&entry] = at;
        out.emplace_back().step = CopyStep{at, to};
        return to;
    }
    const int to = value_buffer(run, version);
    add_kernel(run, {before}, {to}, before->shape, out);
    std::get<ListedKernel>(out.back().step).apart = true;
    if (use.read_apart) out.emplace_back().step = CopyStep{to, value_buffer(run, entry)};
    return to;
}

/// The kernel, run for one slice of its grid after the other: they share the rows of its arrays.
ListedLoop in_slices(LowerRun& run, ListedKernel kernel, const Size& slices,
                     const std::string& slice) {
    ++run.loops;
    ListedLoop out;
    out.loop.induction = slice;
    out.loop.trips = slices;
    out.loop.line = kernel.lines.empty() ? "" : kernel.lines[0];
    out.body.push_back({std::move(kernel)});
    return out;
}

}  // namespace

void add_by_hand(LowerRun& run, const std::vector<Ref>& outputs, std::vector<ListedStep>& out) {
    const Node& kernel = *outputs[0]->inputs[0];
    const std::vector<TargetUse> uses = target_uses(kernel, outputs);
    KernelRequest request;
    request.by_hand = &kernel;
    request.outputs = outputs;
    request.targets.assign(uses.size(), -1);
    for (size_t k = 0; k < uses.size(); ++k) {
        const auto version = std::find_if(outputs.begin(), outputs.end(), [&](const Ref& r) {
            return r->as<ResultAttr>().index == static_cast<int>(k);
        });
        // A version that only the kernel itself needs.
        const Node& made =
            version == outputs.end() ? *kernel.as<LoopAttr>().body->results[k] : **version;
        request.targets[k] = start_target(run, kernel, k, made, uses[k], out);
    }
    request.next_buffer = static_cast<int>(run.program->buffers.size());
    request.slice = "$t" + std::to_string(run.loops);
    LoweredByHand lowered = lower_by_hand(request, run.context, run.profile);
    for (const KernelBuffer& own : lowered.own_buffers)
        add_buffer(run, "local " + first_line(kernel), own.dtype, {own.elements});
    ListedKernel made;
    made.code = std::move(lowered.code);
    made.by_hand = made.code.in_order;
    verify(made.code, made.by_hand ? KernelStage::Mapped : KernelStage::Lowered, "lower");
    made.lines = lines_of(outputs);
    if (lowered.slices.is(1))
        out.push_back({std::move(made)});
    else
        out.push_back({in_slices(run, std::move(made), lowered.slices, request.slice)});
}

}  // namespace firn
