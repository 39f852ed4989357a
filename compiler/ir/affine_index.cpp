// Recognises index tensors of the form offset + position, so that stores can be turned round.
#include "compiler/ir/affine_index.h"

namespace firn {
namespace {

std::optional<AffineIndex> sum(const Node& node, int64_t sign) {
    const auto a = affine_index(*node.inputs[0]), b = affine_index(*node.inputs[1]);
    if (!a || !b || (a->axis >= 0 && b->axis >= 0)) return std::nullopt;
    if (b->axis >= 0 && sign < 0) return std::nullopt;
    return AffineIndex{a->axis >= 0 ? a->axis : b->axis, a->offset + Size(sign) * b->offset};
}

}  // namespace

std::optional<AffineIndex> affine_index(const Node& node) {
    switch (node.op) {
        case Op::Constant:
            if (node.dtype.is_float()) return std::nullopt;
            return AffineIndex{-1, Size(node.as<ConstantAttr>().value.i)};
        case Op::SizeValue: return AffineIndex{-1, node.as<SizeAttr>().size};
        case Op::Index: return AffineIndex{node.as<IndexAttr>().axis, Size(0)};
        case Op::Expand: {
            auto inner = affine_index(*node.inputs[0]);
            if (!inner || inner->axis < 0) return inner;
            // The one index of a dimension of 1 is repeated.
            if (node.inputs[0]->shape[inner->axis].is(1)) return AffineIndex{-1, inner->offset};
            inner->axis += node.rank() - node.inputs[0]->rank();
            return inner;
        }
        case Op::Add: return sum(node, 1);
        case Op::Sub: return sum(node, -1);
        default: return std::nullopt;
    }
}

bool is_outside(const Node& node) {
    const Node* at = &node;
    while (at->op == Op::Expand) at = at->inputs[0].get();
    return at->op == Op::Constant && at->as<ConstantAttr>().value.i < 0;
}

bool leaves_some_out(const Node& index) {
    const Node* at = &index;
    while (is_movement(at->op)) at = at->inputs[0].get();
    return at->op == Op::Select && is_outside(*at->inputs[2]);
}

std::optional<StoreIndex> store_index(const Node& node) {
    if (node.op == Op::Select && is_outside(*node.inputs[2])) {
        const auto inner = affine_index(*node.inputs[1]);
        if (!inner) return std::nullopt;
        return StoreIndex{*inner, node.inputs[0].get()};
    }
    const auto plain = affine_index(node);
    if (!plain) return std::nullopt;
    return StoreIndex{*plain};
}

bool is_invertible_store(const Node& scatter) {
    if (scatter.op != Op::Scatter || scatter.as<ScatterAttr>().op != ScatterOp::Last) return false;
    std::vector<bool> solved(scatter.inputs[1]->shape.size(), false);
    bool guarded = false;
    for (size_t k = 2; k < scatter.inputs.size(); ++k) {
        const auto index = store_index(*scatter.inputs[k]);
        if (!index) return false;
        if (index->index.axis >= 0) solved[static_cast<size_t>(index->index.axis)] = true;
        guarded |= index->guard != nullptr;
    }
    // Of positions that write one place the last wins; with a guard nobody knows which that is.
    for (size_t axis = 0; guarded && axis < solved.size(); ++axis)
        if (!solved[axis] && !scatter.inputs[1]->shape[axis].is(1)) return false;
    return true;
}

bool is_scattering(const Node& node) { return node.op == Op::Scatter && !is_invertible_store(node); }

}  // namespace firn
