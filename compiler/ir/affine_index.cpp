// Recognises index tensors of the form offset + position, so that stores can be turned round.
#include "compiler/ir/affine_index.h"

namespace firn {
namespace {

/// a + factor * b.
std::optional<AffineForm> sum(std::optional<AffineForm> a, const std::optional<AffineForm>& b, int64_t factor) {
    if (!a || !b) return std::nullopt;
    for (const auto& [axis, scale] : b->scales)
        if ((a->scales[axis] += factor * scale) == 0) a->scales.erase(axis);
    a->offset = a->offset + Size(factor) * b->offset;
    return a;
}

std::optional<AffineForm> product(const AffineForm& a, const AffineForm& b) {
    if (!b.scales.empty()) return a.scales.empty() ? product(b, a) : std::nullopt;
    if (!b.offset.is_constant()) return std::nullopt;
    return sum(AffineForm{}, a, b.offset.constant());
}

/// The one index of a dimension of 1 is repeated; the others move with the rank.
AffineForm expanded(const AffineForm& inner, const Node& node) {
    AffineForm out;
    out.offset = inner.offset;
    const Node& input = *node.inputs[0];
    for (const auto& [axis, scale] : inner.scales)
        if (!input.shape[static_cast<size_t>(axis)].is(1)) out.scales[axis + node.rank() - input.rank()] = scale;
    return out;
}

}  // namespace

std::optional<AffineForm> affine_form(const Node& node) {
    switch (node.op) {
        case Op::Constant:
            if (node.dtype.is_float()) return std::nullopt;
            return AffineForm{{}, Size(node.as<ConstantAttr>().value.i)};
        case Op::SizeValue: return AffineForm{{}, node.as<SizeAttr>().size};
        case Op::Index: return AffineForm{{{node.as<IndexAttr>().axis, 1}}, Size(0)};
        case Op::Expand: {
            const auto inner = affine_form(*node.inputs[0]);
            return inner ? std::optional(expanded(*inner, node)) : std::nullopt;
        }
        case Op::Add: return sum(affine_form(*node.inputs[0]), affine_form(*node.inputs[1]), 1);
        case Op::Sub: return sum(affine_form(*node.inputs[0]), affine_form(*node.inputs[1]), -1);
        case Op::Neg: return sum(AffineForm{}, affine_form(*node.inputs[0]), -1);
        case Op::Mul: {
            const auto a = affine_form(*node.inputs[0]), b = affine_form(*node.inputs[1]);
            return a && b ? product(*a, *b) : std::nullopt;
        }
        default: return std::nullopt;
    }
}

std::optional<AffineIndex> affine_index(const Node& node) {
    const auto form = affine_form(node);
    if (!form || form->scales.size() > 1) return std::nullopt;
    if (form->scales.empty()) return AffineIndex{-1, form->offset};
    const auto [axis, scale] = *form->scales.begin();
    if (scale != 1) return std::nullopt;
    return AffineIndex{axis, form->offset};
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
