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

NodeId Walk::reduce(const Node& node, const Indices& at) {
    const auto& reduce = node.as<ReduceAttr>();
    const Node& input = *node.inputs[0];
    Indices in(input.shape.size());
    size_t kept = 0;
    for (size_t axis = 0; axis < in.size(); ++axis)
        if (std::find(reduce.axes.begin(), reduce.axes.end(), static_cast<int>(axis)) ==
            reduce.axes.end())
            in[axis] = at[kept++];
    const Monoid& by = monoid(reduce.op);
    const DType type = accumulator_type(input.dtype);
    if (const auto it = extremes_.find({&input, reduce.op, in}); it != extremes_.end())
        return b_.make(KernelOp::Cast, node.dtype, {it->second});
    const int64_t borrows = borrows_;
    std::vector<NodeId> found{b_.constant(identity(by, type))};
    if (request_.row_reductions.contains(&node)) {
        ensure(input.shape == request_.shape && std::equal(in.begin(), in.end() - 1, row_.begin()),
               "a reduction of another row than the kernel's own");
        found = reduce_held_row(node, type);
    } else {
        if (by.position_of) found.resize(type.is_float() ? 3 : 2, b_.integer(kNoPosition));
        found = reduce_axis(node, in, 0, std::move(found), type);
    }
    b_.set_lines(node.lines);
    if (!by.position_of) return b_.make(KernelOp::Cast, node.dtype, {found[0]});
    if (borrows_ == borrows) extremes_[{&input, *by.position_of, in}] = found[0];
    const NodeId first = found.size() < 3 ? found[1]
                                          : b_.make(KernelOp::Min, i32, {found[1], found[2]}),
                 none = b_.integer(kNoPosition);
    return b_.select(b_.make(KernelOp::Equal, boolean, {first, none}), b_.integer(0),
                     b_.make(KernelOp::And, i32, {first, none}));
}

/// The combination of a row that the kernel's group holds, and the first position where it stands.
std::vector<NodeId> Walk::reduce_held_row(const Node& node, DType type) {
    const Monoid& by = monoid(node.as<ReduceAttr>().op);
    const NodeId each = b_.make(KernelOp::Cast, type, {ask(*node.inputs[0], row_)});
    b_.set_lines(node.lines);
    if (!by.position_of) return {b_.row_reduce(*by.reduce, each)};
    const NodeId whole = b_.row_reduce(*by.position_of, each),
                 is_it = b_.make(KernelOp::Equal, boolean, {each, whole});
    const NodeId place = b_.select(is_it, row_.back(), b_.integer(kNoPosition));
    return {whole, b_.row_reduce(ReduceOp::Min, place_of_nan(each, row_.back(), place))};
}

/// The position of an element if it is nan, marked as one that comes before all others; else
/// `otherwise`.
NodeId Walk::place_of_nan(NodeId value, NodeId index, NodeId otherwise) {
    if (!b_.node(value).dtype.is_float()) return otherwise;
    const NodeId marked = b_.make(KernelOp::Or, i32, {index, b_.integer(kNanPosition)});
    return b_.select(b_.make(KernelOp::IsNan, boolean, {value}), marked, otherwise);
}

/// Takes one more element into what a reduction carries: the combination; of one that gives a
/// position, also where that last changed, and the position of the first nan.
std::vector<NodeId> Walk::reduce_element(const Node& node, const Indices& in,
                                         const std::vector<NodeId>& carried, DType type) {
    const auto& attr = node.as<ReduceAttr>();
    const Monoid& by = monoid(attr.op);
    const NodeId value = b_.make(KernelOp::Cast, type, {ask(*node.inputs[0], in)});
    b_.set_lines(node.lines);
    std::vector<NodeId> next{b_.make(kernel_op(by.step), type, {carried[0], value})};
    if (!by.position_of) return next;
    const NodeId index = in[attr.axes[0]];
    const bool least = by.step == Op::Min;
    const NodeId better =
        b_.make(KernelOp::Less, boolean, {least ? value : carried[0], least ? carried[0] : value});
    next.push_back(b_.select(better, index, carried[1]));
    if (carried.size() < 3) return next;
    const NodeId nan = place_of_nan(value, index, b_.integer(kNoPosition));
    next.push_back(b_.make(KernelOp::Min, i32, {carried[2], nan}));
    return next;
}

std::vector<NodeId> Walk::reduce_axis(const Node& node, Indices in, size_t depth,
                                      std::vector<NodeId> carried, DType type) {
    const auto& attr = node.as<ReduceAttr>();
    if (depth == attr.axes.size()) return reduce_element(node, in, carried, type);
    const Size& extent = node.inputs[0]->shape[attr.axes[depth]];
    const bool few = extent.is_constant() && extent.constant() > 1 &&
                     extent.constant() * copies_ <= costs::kShortReduction;
    if (few && is_small(*node.inputs[0])) {
        copies_ *= extent.constant();
        for (int64_t k = 0; k < extent.constant(); ++k) {
            in[attr.axes[depth]] = b_.integer(k);
            carried = reduce_axis(node, in, depth + 1, std::move(carried), type);
        }
        copies_ /= extent.constant();
        return carried;
    }
    const RegionId region = b_.add_region();
    const RangeId range = serial_range(b_, extent, "k");
    b_.code()[region].range = range;
    std::vector<NodeId> args;
    for (NodeId init : carried) args.push_back(b_.region_arg(region, b_.node(init).dtype));
    in[attr.axes[depth]] = b_.range(range);
    const size_t mark = log_.size();
    std::vector<NodeId> next = reduce_axis(node, in, depth + 1, std::move(args), type);
    b_.code()[region].yields = std::move(next);
    b_.set_lines(node.lines);
    const NodeId made = b_.close_for(region, carried);
    forget_iteration(mark, range);
    for (size_t k = 0; k < carried.size(); ++k) carried[k] = b_.result(made, static_cast<int>(k));
    return carried;
}

}  // namespace firn
