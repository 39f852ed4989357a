// The demand walk through reductions.
#include <algorithm>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"
#include "compiler/lower/walk_state.h"
#include "compiler/target/cost_table.h"

namespace firn {
namespace {

/// Cast that sums of a storage type need before they accumulate.
DType accumulator_type(DType dtype) { return dtype.is_half() ? f32 : dtype; }

}  // namespace

bool Walk::is_small(const Node& root) const {
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> queue{&root};
    while (!queue.empty()) {
        const Node* node = queue.back();
        queue.pop_back();
        if (!seen.insert(node).second || context_.buffers.contains(node)) continue;
        if (seen.size() > costs::kSmallTerm || node->op == Op::Result) return false;
        for (const Ref& input : node->inputs) queue.push_back(input.get());
    }
    return true;
}

int Walk::reduce(const Node& node, const Indices& at) {
    const auto& reduce = node.as<ReduceAttr>();
    const Node& input = *node.inputs[0];
    Indices in(input.shape.size(), -1);
    size_t kept = 0;
    for (size_t axis = 0; axis < in.size(); ++axis)
        if (std::find(reduce.axes.begin(), reduce.axes.end(), static_cast<int>(axis)) ==
            reduce.axes.end())
            in[axis] = at[kept++];
    const DType type = accumulator_type(node.dtype);
    if (request_.row_reductions.contains(&node)) {
        ensure(input.shape == request_.shape && std::equal(in.begin(), in.end() - 1, row_.begin()),
               "a reduction of another row than the kernel's own");
        const int each = ask(input, row_);
        b_.set_lines(node.lines);
        return b_.make(KernelOp::Cast, node.dtype,
                       {b_.row_reduce(reduce.op, b_.make(KernelOp::Cast, type, {each}))});
    }
    const int start = b_.constant(reduce_identity(reduce.op, type));
    const int total = reduce_axis(node, in, 0, start, type);
    b_.set_lines(node.lines);
    return b_.make(KernelOp::Cast, node.dtype, {total});
}

int Walk::reduce_axis(const Node& node, Indices in, size_t depth, int accumulator, DType type) {
    const auto& attr = node.as<ReduceAttr>();
    if (depth == attr.axes.size()) {
        const int value = ask(*node.inputs[0], in);
        b_.set_lines(node.lines);
        return b_.make(kernel_op(reduce_step(attr.op)), type,
                       {accumulator, b_.make(KernelOp::Cast, type, {value})});
    }
    const Size& extent = node.inputs[0]->shape[attr.axes[depth]];
    const bool few = extent.is_constant() && extent.constant() > 1 &&
                     extent.constant() * copies_ <= costs::kShortReduction;
    if (few && is_small(*node.inputs[0])) {
        copies_ *= extent.constant();
        for (int64_t k = 0; k < extent.constant(); ++k) {
            in[attr.axes[depth]] = b_.integer(k);
            accumulator = reduce_axis(node, in, depth + 1, accumulator, type);
        }
        copies_ /= extent.constant();
        return accumulator;
    }
    const int region = b_.add_region();
    const int range = serial_range(b_, extent, "k");
    b_.code().regions[region].range = range;
    const int arg = b_.region_arg(region, type);
    in[attr.axes[depth]] = b_.range(range);
    const size_t mark = log_.size();
    const int next = reduce_axis(node, in, depth + 1, arg, type);
    b_.code().regions[region].yields = {next};
    b_.set_lines(node.lines);
    const int made = b_.close_for(region, {accumulator});
    forget_iteration(mark, range);
    return b_.result(made, 0);
}

}  // namespace firn
