// Kernels that compute values, each at all its indices.
#include "compiler/lower/value_kernels.h"

#include <span>
#include <utility>

#include "compiler/kernel/kernel_builder.h"
#include "compiler/lower/value_buffers.h"
#include "compiler/lower/walk_index.h"

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
        // A later use then needs no load.
        if (const auto size = host_size(*value, run.context.host_values))
            run.context.host_values[value.get()] = *size;
    return value_buffer(run, *value);
}

void add_kernel(LowerRun& run, const ScheduleItem& item, std::vector<ListedStep>& out) {
    KernelRequest request;
    for (const Ref& r : item.outputs) request.targets.push_back(computed_buffer(run, r));
    request.inner = item.inner;
    request.row_reductions.insert(item.row_reductions.begin(), item.row_reductions.end());
    request.again = item.again;
    request.shape = item.outputs[0]->shape;
    request.outputs = item.outputs;
    add_request(run, request, out);
}

void add_opening(LowerRun& run, const Node& empty, int buffer, std::vector<ListedStep>& out) {
    ListedKernel made;
    KernelBuilder b(made.code, run.context.facts);
    make_grid(b, {Size(1)}, true, true);
    for (const SourceLine& line : empty.lines) add_lines(made.lines, {text(line)});
    const Size count = element_count(largest(empty.shape));
    const int target = b.buffer(buffer, empty.dtype, count, BindingForm::Storage, 1, true);
    const NodeId zero = b.constant(scalar_int(0).to(empty.dtype)), at = b.integer(0);
    const NodeId store = b.store(target, at, std::span(&zero, 1));
    const RegionId region = b.add_region();
    made.code[region].effects = {store};
    const NodeId any = b.make(KernelOp::Less, boolean, {at, b.size(count)});
    made.code[kRoot].effects = {count.lower_bound() > 0 ? store : b.branch(any, region, {}, true)};
    verify(made.code, KernelStage::Lowered, "open");
    out.push_back({std::move(made)});
}

void add_kernel(LowerRun& run, const std::vector<Ref>& outputs, const std::vector<int>& targets,
                const Shape& shape, std::vector<ListedStep>& out, const NodeSet& again) {
    KernelRequest request;
    request.again = again;
    request.shape = shape;
    request.outputs = outputs;
    request.targets = targets;
    add_request(run, request, out);
}

}  // namespace firn
