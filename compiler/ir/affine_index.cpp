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

bool is_invertible_store(const Node& scatter) {
    if (scatter.op != Op::Scatter || scatter.as<ScatterAttr>().op != ScatterOp::Last) return false;
    for (size_t k = 2; k < scatter.inputs.size(); ++k)
        if (!affine_index(*scatter.inputs[k])) return false;
    return true;
}

bool is_scattering(const Node& node) { return node.op == Op::Scatter && !is_invertible_store(node); }

}  // namespace firn
