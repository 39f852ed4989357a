// The demand walk: asks every output for its value at the grid's indices, and inputs at theirs.
#include "compiler/lower/walk.h"

#include <algorithm>
#include <utility>

#include "compiler/ir/accumulation.h"
#include "compiler/ir/affine_index.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/value_bounds.h"
#include "compiler/kernel/rows.h"
#include "compiler/lower/walk_state.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

constexpr int64_t kShortReduction =
    4;                             // turns, of loops in one another together, that need no loop
constexpr size_t kSmallTerm = 40;  // values that such a turn may ask for
constexpr int kDeep = 200;  // questions inside one another, from which on operands are asked first
constexpr int kDeepest = 4000;  // questions inside one another

/// Cast that sums of a storage type need before they accumulate.
DType accumulator_type(DType dtype) { return dtype == f16 ? f32 : dtype; }

}  // namespace

Walk::Walk(const KernelRequest& request, const LowerContext& context, KernelCode& code)
    : request_(request), context_(context), b_(code, context.facts) {}

void Walk::run() {
    const Written by_position = written(*request_.outputs[0], {});
    const bool rows = !request_.row_reductions.empty();
    const bool flat = !request_.inner && !by_position && !rows &&
                      is_flat_kernel(request_.outputs, request_.shape, context_);
    const Shape outer(request_.shape.begin(), request_.shape.end() - request_.inner);
    const Grid grid = make_grid(b_, outer, flat, !by_position);
    if (rows) row_ = normal(request_.shape, grid.indices);
    if (by_position) return write_position(by_position.loop, grid.indices);
    if (request_.inner) return run_rows(grid.indices);
    KernelCode& code = b_.code();
    for (size_t k = 0; k < request_.outputs.size(); ++k)
        own_[request_.outputs[k].get()] = normal(request_.outputs[k]->shape, grid.indices);
    for (size_t k = 0; k < request_.outputs.size(); ++k) {
        const Ref& output = request_.outputs[k];
        int value = ask(*output, grid.indices);
        b_.set_lines(output->lines);
        const int target = b_.buffer(request_.targets[k], output->dtype,
                                     element_count(output->shape), BindingForm::Storage, 1, true);
        code.regions[0].effects.push_back(b_.store(target, grid.flat, std::span(&value, 1)));
    }
}

void Walk::write_position(const Node* loop, const Indices& at) {
    if (!loop) {
        const std::vector<int> effects = position_effects(at);
        b_.code().regions[0].effects = effects;
        return;
    }
    std::set<int> needed;
    for (const Ref& output : request_.outputs)
        for (const Node* scatter : written(*output, {}).scatters)
            for (size_t k = 1; k < scatter->inputs.size(); ++k)
                add_needed(*loop, *scatter->inputs[k], needed);
    const OpenLoop open = open_loop(*loop, members_of(*loop, needed), request_.shape, at);
    const std::vector<int> effects = position_effects(at);
    if (effects.empty()) return;  // no position is ever inside
    b_.code().regions[open.region].effects = effects;
    const int made = close_loop(*loop, open, request_.shape, at);
    b_.code().regions[0].effects.push_back(made);
}

std::vector<int> Walk::position_effects(const Indices& at) {
    std::vector<int> effects;
    for (size_t k = 0; k < request_.outputs.size(); ++k) {
        const Written w = written(*request_.outputs[k], {});
        for (size_t s = w.scatters.size(); s-- > 0;)
            store_position(*w.scatters[s], request_.targets[k], at, effects);
    }
    return effects;
}

void Walk::store_position(const Node& scatter, int program_buffer, const Indices& at,
                          std::vector<int>& effects) {
    const Shape& shape = scatter.shape;
    int inside = b_.boolean_value(true);
    Indices to;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        to.push_back(ask(*scatter.inputs[axis + 2], at));
        b_.set_lines(scatter.lines);
        inside = b_.make(KernelOp::And, boolean,
                         {inside, bounded(b_, to[axis], shape[axis], Bounds::Constant).inside});
    }
    const int value = ask(*scatter.inputs[1], at);
    b_.set_lines(scatter.lines);
    const ScatterOp op = scatter.as<ScatterAttr>().op;
    // What the device cannot do to floats is done by exchanging their bits.
    const bool own = op == ScatterOp::Last || (op == ScatterOp::Add && context_.float_atomic_add);
    const DType stored = scatter.dtype == f32 && !own ? u32 : scatter.dtype;
    const int target =
        b_.buffer(program_buffer, stored, element_count(shape), BindingForm::Storage, 1, true);
    const int place = flat_index(b_, to, shape);
    const int effect = op == ScatterOp::Last ? b_.store(target, place, std::span(&value, 1))
                                             : b_.atomic(target, op, place, value);
    if (b_.is_constant(inside)) {
        if (b_.node(inside).constant.i) effects.push_back(effect);
        return;
    }
    const int region = b_.add_region();
    b_.code().regions[region].effects = {effect};
    effects.push_back(b_.branch(inside, region, -1, true));
}

void Walk::run_rows(const Indices& row) {
    for (size_t k = 0; k < request_.outputs.size(); ++k) {
        Indices at = row;
        std::vector<int> effects;
        walk_row(k, at, effects);
        std::vector<int>& all = b_.code().regions[0].effects;
        all.insert(all.end(), effects.begin(), effects.end());
    }
}

void Walk::walk_row(size_t output, Indices& at, std::vector<int>& effects) {
    const Ref& node = request_.outputs[output];
    if (at.size() == request_.shape.size()) {
        const int value = evaluate_own(*node, at);
        b_.set_lines(node->lines);
        const int target = b_.buffer(request_.targets[output], node->dtype,
                                     element_count(node->shape), BindingForm::Storage, 1, true);
        effects.push_back(b_.store(target, flat_index(b_, at, node->shape), std::span(&value, 1)));
        return;
    }
    const Size& extent = request_.shape[at.size()];
    if (is_short_row(request_.shape, request_.inner)) {
        // Side by side, so that loops of the same turns meet.
        for (int64_t k = 0; k < extent.constant(); ++k) {
            at.push_back(b_.integer(k));
            walk_row(output, at, effects);
            at.pop_back();
        }
        return;
    }
    const int region = b_.add_region();
    const int range = serial_range(b_, extent, "j");
    b_.code().regions[region].range = range;
    at.push_back(b_.range(range));
    const size_t mark = log_.size();
    std::vector<int> inside;
    walk_row(output, at, inside);
    at.pop_back();
    b_.code().regions[region].effects = std::move(inside);
    b_.set_lines(node->lines);
    effects.push_back(b_.close_for(region, {}));
    forget_turn(mark, range);
}

int Walk::evaluate_own(const Node& node, const Indices& at) {
    own_[&node] = normal(node.shape, at);
    return ask(node, at);
}

int Walk::ask(const Node& node, const Indices& asked) {
    const Indices at = normal(node.shape, asked);
    const auto key = std::make_pair(&node, at);
    if (auto it = memo_.find(key); it != memo_.end()) return it->second;
    if (nested_.depth() == kDeepest)
        throw UserError("lower: a value inside one loop or kernel is made of more than " +
                        std::to_string(kDeepest) +
                        " reads and reductions of one another; give some of them a loop, or a "
                        "kernel of their own" +
                        (node.lines.empty() ? "" : " (" + text(node.lines[0]) + ")"));
    const int value = nested_([&] {
        if (nested_.depth() > kDeep) ask_operands(node, at);
        return evaluate(node, at);
    });
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
        if (!chain.empty()) remember({&last, at}, evaluate(last, at));
    }
}

Indices Walk::normal(const Shape& shape, Indices at) {
    if (at.size() == shape.size())
        for (size_t k = 0; k < at.size(); ++k)
            if (shape[k].is(1)) at[k] = b_.integer(0);
    return at;
}

void Walk::remember(const std::pair<const Node*, Indices>& key, int value) {
    memo_[key] = value;
    log_.push_back(key);
}

void Walk::forget_turn(size_t mark, int range) {
    auto depends = [&](int value) {
        const std::vector<int>& ranges = b_.dependencies(value);
        return std::binary_search(ranges.begin(), ranges.end(), range);
    };
    for (size_t k = mark; k < log_.size(); ++k) {
        auto it = memo_.find(log_[k]);
        if (it != memo_.end() && depends(it->second)) memo_.erase(it);
    }
    std::erase_if(loop_results_, [&](const auto& entry) { return depends(entry.second); });
}

int Walk::evaluate(const Node& node, const Indices& at) {
    auto own = own_.find(&node);
    const bool in_memory = context_.buffers.contains(&node);
    if (own != own_.end() && own->second != at) {
        ensure(stands_for(at, own->second), "a kernel reads an output of its own at another index");
        return ask(node, own->second);
    }
    // A number that is also a result is no reason to load it.
    const bool number = node.op == Op::Constant || node.op == Op::SizeValue ||
                        node.op == Op::Index || context_.host_values.contains(&node) ||
                        context_.host_numbers.contains(&node);
    if (in_memory && own == own_.end() && !number) return load(node, at);
    if (auto it = context_.host_values.find(&node); it != context_.host_values.end())
        return b_.size(it->second);
    b_.set_lines(node.lines);
    if (auto it = context_.host_numbers.find(&node); it != context_.host_numbers.end())
        return b_.scalar_argument(it->second, node.dtype);
    if (is_elementwise(node.op)) {
        std::vector<int> args;
        for (const Ref& input : node.inputs) args.push_back(ask(*input, at));
        b_.set_lines(node.lines);
        return b_.make(kernel_op(node.op), node.dtype, std::move(args));
    }
    switch (node.op) {
        case Op::Constant: return b_.constant(node.as<ConstantAttr>().value);
        case Op::SizeValue: return b_.size(node.as<SizeAttr>().size);
        case Op::Input: {
            // Parameters are 4 or 8 bytes: narrow types travel wide.
            const DType wide = node.dtype == f16 ? f32 : node.dtype.bytes() == 1 ? i32 : node.dtype;
            return b_.make(KernelOp::Cast, node.dtype,
                           {b_.scalar_argument(node.as<InputAttr>().index, wide)});
        }
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

int Walk::load(const Node& node, const Indices& at) {
    b_.set_lines(node.lines);
    const int buffer = b_.buffer(context_.buffers.at(&node), node.dtype, element_count(node.shape),
                                 BindingForm::Storage, 1, false);
    const int value = b_.load(buffer, flat_index(b_, at, node.shape));
    if (node.dtype == i32)
        if (const ValueBounds bounds = value_bounds(node, context_.facts); bounds.known())
            b_.assume(value, Size(bounds.lo), Size(bounds.hi));
    return value;
}

int Walk::pad(const Node& node, const Indices& at) {
    const auto& pad = node.as<PadAttr>();
    const Shape& in_shape = node.inputs[0]->shape;
    int inside = b_.boolean_value(true);
    Indices in;
    for (size_t k = 0; k < at.size(); ++k) {
        const int i = b_.sub(at[k], b_.size(pad.before[k]));
        const Read read = inside_of(i, in_shape[k], Bounds::Constant);
        inside = b_.make(KernelOp::And, boolean, {inside, read.inside});
        in.push_back(read.index);
    }
    // What lies outside for sure is not asked: of an axis without elements no index is a loop's
    // own.
    if (never(inside)) return b_.constant(pad.value.to(node.dtype));
    const int value = ask(*node.inputs[0], in);
    b_.set_lines(node.lines);
    return b_.select(inside, value, b_.constant(pad.value.to(node.dtype)));
}

int Walk::gather(const Node& node, const Indices& at) {
    const auto& gather = node.as<GatherAttr>();
    const Node& source = *node.inputs[0];
    const Scalar zero = Scalar{}.to(node.dtype), fill = gather.fill.to(node.dtype);
    const bool fills = !(fill == zero);
    // An axis without elements reads 0, unless another one's constant stands there.
    int inside = b_.boolean_value(true), exists = inside;
    Indices in;
    for (size_t k = 0; k < gather.modes.size(); ++k) {
        const int i = ask(*node.inputs[k + 1], at);
        b_.set_lines(node.lines);
        const Read read = inside_of(i, source.shape[k], gather.modes[k]);
        int& holds = fills && gather.modes[k] != Bounds::Constant ? exists : inside;
        holds = b_.make(KernelOp::And, boolean, {holds, read.inside});
        in.push_back(read.index);
    }
    if (never(inside)) return b_.constant(fill);
    int value = never(exists) ? b_.constant(zero) : ask(source, in);
    b_.set_lines(node.lines);
    value = b_.select(exists, value, b_.constant(zero));
    return b_.select(inside, value, b_.constant(fill));
}

bool Walk::never(int condition) const {
    return b_.is_constant(condition) && !b_.node(condition).constant.i;
}

int Walk::store_as_read(const Node& node, const Indices& at) {
    const Shape& positions = node.inputs[1]->shape;
    std::vector<int> p(positions.size(), -1);
    int written = b_.boolean_value(true);
    auto require = [&](int condition) {
        written = b_.make(KernelOp::And, boolean, {written, condition});
    };
    std::vector<const Node*> guards;
    for (size_t k = 0; k < at.size(); ++k) {
        const std::optional<StoreIndex> stored = store_index(*node.inputs[k + 2]);
        ensure(stored.has_value(), "a store that is not affine reached the walk");
        const AffineIndex& index = stored->index;
        if (stored->guard) guards.push_back(stored->guard);
        const int offset = b_.size(index.offset);
        if (index.axis < 0) {
            require(b_.make(KernelOp::Equal, boolean, {at[k], offset}));
            continue;
        }
        // Of several the last one counts, as in access maps.
        const int solved = b_.sub(at[k], offset), before = std::exchange(p[index.axis], solved);
        if (before >= 0) require(b_.make(KernelOp::Equal, boolean, {before, solved}));
    }
    for (size_t axis = 0; axis < p.size(); ++axis) {
        // An axis that no index uses writes one place over and over: its last turn wins.
        if (p[axis] < 0) p[axis] = b_.size(positions[axis] - Size(1));
        const Read read = inside_of(p[axis], positions[axis], Bounds::Constant);
        require(read.inside);
        p[axis] = read.index;
    }
    for (const Node* guard : guards) require(ask(*guard, project(b_, p, positions, guard->shape)));
    const int old = ask(*node.inputs[0], at);
    if (never(written)) return old;
    const int value = ask(*node.inputs[1], p);
    b_.set_lines(node.lines);
    return b_.select(written, value, old);
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

bool Walk::is_small(const Node& root) const {
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> queue{&root};
    while (!queue.empty()) {
        const Node* node = queue.back();
        queue.pop_back();
        if (!seen.insert(node).second || context_.buffers.contains(node)) continue;
        if (seen.size() > kSmallTerm || node->op == Op::Result) return false;
        for (const Ref& input : node->inputs) queue.push_back(input.get());
    }
    return true;
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
                     extent.constant() * copies_ <= kShortReduction;
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
    forget_turn(mark, range);
    return b_.result(made, 0);
}

KernelCode lower_kernel(const KernelRequest& request, const LowerContext& context) {
    KernelCode code;
    code.name = request.name;
    Walk(request, context, code).run();
    return code;
}

}  // namespace firn
