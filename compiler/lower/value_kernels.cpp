// Kernels that compute values, each at all its indices.
#include "compiler/lower/value_kernels.h"

#include <utility>

#include "compiler/lower/value_buffers.h"

namespace firn {
namespace {

void add_request(LowerRun& run, const KernelRequest& request, std::vector<ListedStep>& out) {
    ListedKernel made;
    made.code = lower_kernel(request, run.context);
    verify(made.code, KernelStage::Lowered, "lower");
    made.lines = lines_of(request.outputs);
    if (request.inner || !request.row_reductions.empty()) made.row_root = request.outputs[0].get();
    out.push_back({std::move(made)});
}

}  // namespace

std::vector<std::string> lines_of(const std::vector<Ref>& outputs) {
    std::vector<std::string> out;
    for (const Ref& output : outputs)
        for (const SourceLine& line : output->lines) add_lines(out, {text(line)});
    return out;
}

int computed_buffer(LowerRun& run, const Ref& value) {
    if (value->shape.empty() && value->dtype == i32)
        // Who asks for it later need not load it.
        if (const auto size = host_size(*value, run.context.host_values))
            run.context.host_values[value.get()] = *size;
    return value_buffer(run, *value);
}

void add_kernel(LowerRun& run, const ScheduleItem& item, std::vector<ListedStep>& out) {
    KernelRequest request;
    for (const Ref& r : item.outputs) request.targets.push_back(computed_buffer(run, r));
    request.inner = item.inner;
    request.row_reductions.insert(item.row_reductions.begin(), item.row_reductions.end());
    request.shape = item.outputs[0]->shape;
    request.outputs = item.outputs;
    add_request(run, request, out);
}

void add_kernel(LowerRun& run, const std::vector<Ref>& outputs, const std::vector<int>& targets,
                const Shape& shape, std::vector<ListedStep>& out) {
    KernelRequest request;
    request.shape = shape;
    request.outputs = outputs;
    request.targets = targets;
    add_request(run, request, out);
}

}  // namespace firn
