// The demand walk: evaluates every output at the grid's indices, and inputs at theirs.
#include "compiler/lower/walk.h"

#include <algorithm>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/ir/pattern.h"
#include "compiler/lower/walk_state.h"

namespace firn {
namespace {

constexpr int kDeep = 200;      // depth of recursion from which on operands are evaluated first
constexpr int kDeepest = 4000;  // questions inside one another

}  // namespace

Walk::Walk(const KernelRequest& request, const LowerContext& context, KernelCode& code)
    : request_(request), context_(context), b_(code, context.facts) {}

NodeId Walk::ask(const Node& node, const Indices& asked) {
    const Indices at = normal(node.shape, asked);
    const auto key = std::make_pair(&node, at);
    if (auto it = memo_.find(key); it != memo_.end()) {
        borrows_ += !borrowed_.empty() && borrowed_.contains(key);
        return it->second;
    }
    for (const OpenStore& store : open_stores_)
        if (store.target == &node && store.stored == at) {
            ++borrows_;
            return ask(node, store.at);
        }
    const int64_t before = borrows_;
    if (nested_.depth() == kDeepest)
        throw UserError("lower: a value inside one loop or kernel nests more than " +
                        std::to_string(kDeepest) +
                        " reads and reductions; move some into a loop or kernel of their own" +
                        in_brackets(node.lines));
    const NodeId value = nested_([&] {
        if (nested_.depth() > kDeep) ask_operands(node, at);
        return evaluate(node, at);
    });
    if (borrows_ != before) borrowed_.insert(key);
    remember(key, value);
    return value;
}

void Walk::ask_operands(const Node& node, const Indices& at) {
    auto is_open = [&](const Node& operand) {
        return is_elementwise(operand.op) && !memo_.contains({&operand, at}) &&
               !context_.buffers.contains(&operand) && !context_.host_values.contains(&operand) &&
               !context_.host_numbers.contains(&operand);
    };
    if (!is_open(node)) return;
    std::vector<const Node*> chain{&node};
    while (!chain.empty()) {
        const Node& last = *chain.back();
        const auto& inputs = last.inputs;
        const auto open = std::find_if(inputs.begin(), inputs.end(),
                                       [&](const Ref& input) { return is_open(*input); });
        if (open != inputs.end()) {
            chain.push_back(open->get());
            continue;
        }
        chain.pop_back();
        if (chain.empty()) break;
        const int64_t before = borrows_;
        const NodeId value = evaluate(last, at);
        if (borrows_ != before) borrowed_.insert({&last, at});
        remember({&last, at}, value);
    }
}

Indices Walk::normal(const Shape& shape, Indices at) {
    // One element has one index, for every rank of the value that reads it.
    if (!shape.empty() &&
        std::all_of(shape.begin(), shape.end(), [](const Size& size) { return size.is(1); }))
        return Indices(shape.size(), b_.integer(0));
    if (at.size() == shape.size())
        for (size_t k = 0; k < at.size(); ++k)
            if (shape[k].is(1)) at[k] = b_.integer(0);
    return at;
}

void Walk::remember(const std::pair<const Node*, Indices>& key, NodeId value) {
    memo_[key] = value;
    log_.push_back(key);
}

void Walk::forget_iteration(size_t mark, RangeId range) {
    auto depends = [&](NodeId value) {
        const std::vector<RangeId>& ranges = b_.dependencies(value);
        return std::binary_search(ranges.begin(), ranges.end(), range);
    };
    for (size_t k = mark; k < log_.size(); ++k) {
        auto it = memo_.find(log_[k]);
        if (it != memo_.end() && depends(it->second)) memo_.erase(it);
    }
    std::erase_if(loop_results_, [&](const auto& entry) { return depends(entry.second); });
    std::erase_if(extremes_, [&](const auto& entry) { return depends(entry.second); });
}

NodeId Walk::evaluate(const Node& node, const Indices& at) {
    auto own = own_.find(&node);
    const bool in_memory = context_.buffers.contains(&node);
    // A number that is also a result, or that a loop begins with, is written where it is asked for.
    const bool number = constant_value(node) || node.op == Op::SizeValue || node.op == Op::Index ||
                        node.op == Op::Empty || context_.host_values.contains(&node) ||
                        context_.host_numbers.contains(&node);
    if (own != own_.end() && own->second != at && !number) {
        // If a value is also evaluated at other indices, an index clamped into a shape may equal
        // one of these: the same constant, or an edge.
        const bool again = request_.again.contains(&node);
        if (again ? is_guarded(at, own->second) : stands_for(at, own->second))
            return ask(node, own->second);
        ensure(again, "a kernel reads an output of its own at another index");
    }
    if (in_memory && own == own_.end() && !number) return load(node, at);
    if (auto it = context_.host_values.find(&node); it != context_.host_values.end())
        return b_.size(it->second);
    b_.set_lines(node.lines);
    if (auto it = context_.host_numbers.find(&node); it != context_.host_numbers.end())
        return b_.scalar_argument(it->second, node.dtype);
    if (is_elementwise(node.op)) {
        std::vector<NodeId> args;
        for (const Ref& input : node.inputs) args.push_back(ask(*input, at));
        b_.set_lines(node.lines);
        return b_.make(kernel_op(node.op), node.dtype, std::move(args));
    }
    switch (node.op) {
        case Op::Constant: return b_.constant(node.as<ConstantAttr>().value);
        case Op::SizeValue: return b_.size(node.as<SizeAttr>().size);
        case Op::Input: {
            // Parameters are 4 or 8 bytes: narrow types travel wide.
            const DType wide = node.dtype.is_half()     ? f32
                               : node.dtype.is_narrow() ? i32
                                                        : node.dtype;
            return b_.make(KernelOp::Cast, node.dtype,
                           {b_.scalar_argument(node.as<InputAttr>().index, wide)});
        }
        case Op::Empty: return b_.constant(scalar_int(0).to(node.dtype));
        case Op::Index: return at[node.as<IndexAttr>().axis];
        case Op::Reshape:
            return ask(*node.inputs[0],
                       reshape_index(
                           b_, at, node.shape, node.inputs[0]->shape,
                           !context_.has_i64 || context_.buffers.contains(node.inputs[0].get())));
        case Op::Permute: {
            Indices in(at.size());
            for (size_t k = 0; k < at.size(); ++k) in[node.as<PermuteAttr>().axes[k]] = at[k];
            return ask(*node.inputs[0], in);
        }
        case Op::Expand:
            return ask(*node.inputs[0], project(b_, at, node.shape, node.inputs[0]->shape));
        case Op::Slice: {
            const auto& slice = node.as<SliceAttr>();
            Indices in;
            for (size_t k = 0; k < at.size(); ++k)
                in.push_back(
                    b_.add(b_.size(slice.begin[k]), b_.mul(at[k], b_.integer(slice.step[k]))));
            return ask(*node.inputs[0], in);
        }
        case Op::Pad: return pad(node, at);
        case Op::Gather: return gather(node, at);
        case Op::Scatter: return store_as_read(node, at);
        case Op::Reduce: return reduce(node, at);
        case Op::RegionArg: return carried_value(node, at);
        case Op::Result:
            return node.inputs[0]->op == Op::Loop ? loop_result(node, at) : branch_result(node, at);
        default:
            throw InternalError(std::string("lower: cannot ask a value of ") + info(node.op).name);
    }
}

KernelCode lower_kernel(const KernelRequest& request, const LowerContext& context) {
    KernelCode code;
    code.name = request.name;
    Walk(request, context, code).run();
    return code;
}

}  // namespace firn
