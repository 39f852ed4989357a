// The steps of a program, in their order.
#include "compiler/lower/lower_steps.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/ir/accumulation.h"
#include "compiler/ir/text.h"
#include "compiler/lower/kernels_by_hand.h"
#include "compiler/lower/loop_steps.h"
#include "compiler/lower/value_buffers.h"
#include "compiler/lower/value_kernels.h"
#include "compiler/lower/written_values.h"

namespace firn {
namespace {

/// The first kernel of a step that starts versions of tensors.
void set_apart(std::vector<ListedStep>& steps) {
    bool first = true;
    for_kernels(steps, [&](ListedKernel& kernel) { kernel.apart = std::exchange(first, false); });
}

/// Adds a call of the host.
void add_call(LowerRun& run, const Node& node, std::vector<ListedStep>& out) {
    const Node& input = *node.inputs[0];
    for (const Shape& shape : {input.shape, node.shape})
        for (const Size& size : shape)
            if (!data_symbols(size).empty())
                throw UserError("the host cannot take a tensor of shape " + text(shape) +
                                ", which only the device knows; keep room for all, as "
                                "compact_padded does" +
                                at_line(node));
    CallStep call;
    call.input = run.context.buffers.at(&input), call.output = value_buffer(run, node);
    call.input_shape = input.shape, call.output_shape = node.shape;
    call.operation = node.as<HostCallAttr>().operation;
    call.line = first_line(node);
    out.emplace_back().step = std::move(call);
}

void add_item(LowerRun& run, const ScheduleItem& item, std::vector<ListedStep>& out) {
    if (item.loop) return add_loop(run, item, out);
    if (item.outputs[0]->op == Op::HostCall) return add_call(run, *item.outputs[0], out);
    if (is_stored_by_hand(*item.outputs[0])) return add_by_hand(run, item.outputs, out);
    const auto by_position = [&](const Ref& output) -> bool {
        return static_cast<bool>(written(*output, run.schedule.host_loops));
    };
    if (std::none_of(item.outputs.begin(), item.outputs.end(), by_position))
        return add_kernel(run, item, out);
    std::vector<ListedStep> steps;
    add_written(run, item, steps);
    set_apart(steps);
    std::move(steps.begin(), steps.end(), std::back_inserter(out));
}

/// Notes which values the kernels since step `first` compute.
void note_values(const ScheduleItem& item, size_t first, std::vector<ListedStep>& out) {
    for (size_t k = first; k < out.size(); ++k)
        if (auto* kernel = std::get_if<ListedKernel>(&out[k].step))
            for (const Ref& output : item.outputs) kernel->values.push_back(output.get());
}

/// Adds the sizes that have become known.
void add_known_sizes(const LowerRun& run, const CountedSizes& counted, std::vector<bool>& known,
                     std::vector<ListedStep>& out) {
    for (size_t k = 0; k < known.size(); ++k) {
        const auto at = run.context.buffers.find(counted.counts[k].get());
        if (known[k] || at == run.context.buffers.end()) continue;
        known[k] = true;
        out.push_back({ListedSize{data_symbols(counted.sizes[k]).at(0).name, at->second}});
    }
}

}  // namespace

std::vector<ListedStep> steps_of(LowerRun& run, const std::vector<ScheduleItem>& items,
                                 const CountedSizes& counted) {
    std::vector<ListedStep> out;
    std::vector<bool> known(counted.sizes.size());
    add_known_sizes(run, counted, known, out);
    const auto behind = run.behind;
    const auto results = std::exchange(run.results_of_region, counted.counts);
    for (size_t k = 0; k < items.size(); ++k) {
        const size_t first = out.size();
        run.behind = std::span(items).subspan(k + 1);
        add_item(run, items[k], out);
        note_values(items[k], first, out);
        add_known_sizes(run, counted, known, out);
    }
    run.behind = behind, run.results_of_region = results;
    return out;
}

}  // namespace firn
