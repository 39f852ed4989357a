// The demand walk through memory and operations that choose elements: loads, padding, gathers and
// stores.
#include <optional>
#include <utility>

#include "compiler/base/error.h"
#include "compiler/ir/affine_index.h"
#include "compiler/ir/value_bounds.h"
#include "compiler/lower/walk_state.h"

namespace firn {

int Walk::source(const Node& node, int width) {
    return b_.buffer(context_.buffers.at(&node), node.dtype, element_count(node.shape),
                     BindingForm::Storage, width, false);
}

NodeId Walk::load_element(const Node& node, NodeId index) {
    return b_.load(source(node, 1), index);
}

NodeId Walk::load(const Node& node, const Indices& at) {
    b_.set_lines(node.lines);
    Indices place = at;
    if (at.size() == node.shape.size())
        for (size_t k = 0; k < at.size(); ++k) place[k] = unguarded(at[k], node.shape[k]);
    const NodeId value = load_element(node, flat_index(b_, place, node.shape));
    if (node.dtype == i32)
        if (const Interval bounds = value_bounds(node, context_.facts); bounds != kAnyI32)
            b_.assume(value, Size(bounds.lo), Size(bounds.hi));
    return value;
}

NodeId Walk::pad(const Node& node, const Indices& at) {
    const auto& pad = node.as<PadAttr>();
    const Shape& in_shape = node.inputs[0]->shape;
    NodeId inside = b_.boolean_value(true);
    Indices in;
    for (size_t k = 0; k < at.size(); ++k) {
        const NodeId i = b_.sub(at[k], b_.size(pad.before[k]));
        const Read read = inside_of(*node.inputs[0], i, in_shape[k], Bounds::Constant);
        inside = b_.make(KernelOp::And, boolean, {inside, read.inside});
        in.push_back(read.index);
    }
    // A value that is outside for certain is not evaluated: on an axis without elements no index is
    // a loop's own.
    if (never(inside)) return b_.constant(pad.value.to(node.dtype));
    const NodeId value = ask(*node.inputs[0], in);
    b_.set_lines(node.lines);
    return b_.select(inside, value, b_.constant(pad.value.to(node.dtype)));
}

NodeId Walk::gather(const Node& node, const Indices& at) {
    const auto& gather = node.as<GatherAttr>();
    const Node& source = *node.inputs[0];
    const Scalar zero = Scalar{}.to(node.dtype), fill = gather.fill.to(node.dtype);
    const bool fills = !(fill == zero);
    // An axis without elements reads 0, unless another one's constant stands there.
    NodeId inside = b_.boolean_value(true), exists = inside;
    Indices in;
    for (size_t k = 0; k < gather.modes.size(); ++k) {
        const NodeId i = ask(*node.inputs[k + 1], at);
        b_.set_lines(node.lines);
        const Read read = inside_of(source, i, source.shape[k], gather.modes[k]);
        NodeId& holds = fills && gather.modes[k] != Bounds::Constant ? exists : inside;
        holds = b_.make(KernelOp::And, boolean, {holds, read.inside});
        in.push_back(read.index);
    }
    if (never(inside)) return b_.constant(fill);
    NodeId value = never(exists) ? b_.constant(zero) : ask(source, in);
    b_.set_lines(node.lines);
    value = b_.select(exists, value, b_.constant(zero));
    return b_.select(inside, value, b_.constant(fill));
}

bool Walk::never(NodeId condition) const {
    return b_.is_constant(condition) && !b_.node(condition).as<Scalar>().i;
}

NodeId Walk::store_as_read(const Node& node, const Indices& at) {
    const Shape& positions = node.inputs[1]->shape;
    Indices p(positions.size()), stored;
    NodeId written = b_.boolean_value(true);
    auto require = [&](NodeId condition) {
        written = b_.make(KernelOp::And, boolean, {written, condition});
    };
    std::vector<const Node*> guards;
    std::vector<AffineIndex> affine;
    for (size_t k = 0; k < at.size(); ++k) {
        const std::optional<StoreIndex> found = store_index(*node.inputs[k + 2]);
        ensure(found.has_value(), "a store that is not affine reached the walk");
        const AffineIndex& index = affine.emplace_back(found->index);
        if (found->guard) guards.push_back(found->guard);
        const NodeId offset = b_.size(index.offset);
        if (index.axis < 0) {
            require(b_.make(KernelOp::Equal, boolean, {at[k], offset}));
            continue;
        }
        // If an index has several solutions, the last one counts, as in access maps.
        const NodeId solved = b_.sub(at[k], offset), before = std::exchange(p[index.axis], solved);
        if (before) require(b_.make(KernelOp::Equal, boolean, {before, solved}));
    }
    for (size_t axis = 0; axis < p.size(); ++axis) {
        // All positions along an axis that no index uses write one place: the last one wins.
        if (!p[axis]) p[axis] = b_.size(positions[axis] - Size(1));
        const Read read = inside_of(*node.inputs[1], p[axis], positions[axis], Bounds::Constant);
        require(read.inside);
        p[axis] = read.index;
    }
    for (const Node* guard : guards) require(ask(*guard, project(b_, p, positions, guard->shape)));
    const NodeId old = ask(*node.inputs[0], at);
    if (never(written)) return old;
    for (const AffineIndex& index : affine) {
        const NodeId offset = b_.size(index.offset);
        stored.push_back(index.axis < 0 ? offset : b_.add(p[index.axis], offset));
    }
    const NodeId value = stored_value(node, p, stored, at);
    b_.set_lines(node.lines);
    return b_.select(written, value, old);
}

NodeId Walk::stored_value(const Node& store, const Indices& p, const Indices& stored,
                          const Indices& at) {
    const Node& target = *store.inputs[0];
    const Indices asked = normal(target.shape, stored), own = normal(target.shape, at);
    if (asked == own || !memo_.contains({&target, own})) return ask(*store.inputs[1], p);
    const size_t mark = log_.size();
    const NodeId first_new = b_.code().nodes.end_id();
    const int64_t before = borrows_;
    open_stores_.push_back({&target, asked, own});
    const NodeId value = ask(*store.inputs[1], p);
    open_stores_.pop_back();
    if (borrows_ == before) return value;
    for (size_t k = mark; k < log_.size(); ++k)
        if (borrowed_.erase(log_[k])) memo_.erase(log_[k]);
    std::erase_if(loop_results_, [&](const auto& entry) { return entry.second >= first_new; });
    // The value that the store leaves holds for every use of its element; other stores may be open
    // yet.
    if (open_stores_.empty()) borrows_ = before;
    return value;
}

}  // namespace firn
