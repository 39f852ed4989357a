// A sum along an axis of which at most one element is chosen is that element: a gather.
#include <cmath>

#include "compiler/ir/affine_index.h"
#include "compiler/ir/pattern.h"
#include "compiler/passes/rules.h"

namespace firn {
namespace {

constexpr int kSteps = 100;  // nodes of a comparison's operands that are followed

/// Returns whether some elements of `node` may differ along the axis; true if the search is cut
/// off.
bool varies_along(const Node& node, int axis, int& steps) {
    if (node.op == Op::Constant || node.op == Op::SizeValue || node.shape.empty()) return false;
    if (node.shape[static_cast<size_t>(axis)].is(1)) return false;
    if (node.op == Op::Index) return node.as<IndexAttr>().axis == axis;
    if (steps-- <= 0) return true;
    if (node.op == Op::Expand) {
        const int inner = axis - (node.rank() - node.inputs[0]->rank());
        return inner >= 0 && varies_along(*node.inputs[0], inner, steps);
    }
    if (!is_elementwise(node.op)) return true;
    for (const Ref& input : node.inputs)
        if (varies_along(*input, axis, steps)) return true;
    return false;
}
bool varies_along(const Node& node, int axis) {
    int steps = kSteps;
    return varies_along(node, axis, steps);
}

/// The position along `axis` that a comparison chooses: index + offset == other, where the other
/// side does not vary.
struct Choice {
    Ref other;
    Size offset = Size(0);
};
std::optional<Choice> choice_along(const Node& condition, int axis) {
    if (condition.op != Op::Equal || condition.inputs[0]->dtype != i32) return std::nullopt;
    for (size_t side = 0; side < 2; ++side) {
        const auto index = affine_index(*condition.inputs[side]);
        const Ref& other = condition.inputs[1 - side];
        if (index && index->axis == axis && !varies_along(*other, axis))
            return Choice{other, index->offset};
    }
    return std::nullopt;
}

/// `x` along all axes but `axis`, of which it has the element at `position` (over that shape).
Ref at_position(const Builder& b, const Ref& x, int axis, const Ref& position, Bounds mode) {
    Shape kept = x->shape;
    kept.erase(kept.begin() + axis);
    std::vector<Ref> at;
    for (int k = 0; k < x->rank(); ++k)
        at.push_back(k == axis ? position : index(b, kept, k < axis ? k : k - 1));
    std::vector<Bounds> modes(at.size(), Bounds::Clamp);
    modes[static_cast<size_t>(axis)] = mode;
    return gather(b, x, at, modes, Scalar{scalar_int(0)}.to(x->dtype));
}

}  // namespace

Ref sum_of_one_choice(const Builder& b, const Node& node) {
    const auto& attr = node.as<ReduceAttr>();
    const Node& chosen = *node.inputs[0];
    if (attr.op != ReduceOp::Sum || chosen.op != Op::Select || chosen.dtype != node.dtype)
        return nullptr;
    const std::optional<Scalar> otherwise = constant_value(*chosen.inputs[2]);
    if (!otherwise || (node.dtype.is_float() ? otherwise->f != 0 : otherwise->i != 0))
        return nullptr;
    const Ref &condition = chosen.inputs[0], &value = chosen.inputs[1];
    if (condition->shape != chosen.shape || value->shape != chosen.shape) return nullptr;
    for (int axis : attr.axes) {
        const std::optional<Choice> choice = choice_along(*condition, axis);
        if (!choice) continue;
        Shape kept = chosen.shape;
        kept.erase(kept.begin() + axis);
        const Ref zero = expand(b, constant_int(b, 0), kept);
        Ref position = at_position(b, choice->other, axis, zero, Bounds::Clamp);
        if (!choice->offset.is(0))
            position =
                elementwise(b, Op::Sub, {position, expand(b, size_value(b, choice->offset), kept)});
        Ref found = at_position(b, value, axis, position, Bounds::Constant);
        // A sum of -0 and nothing else is 0.
        if (node.dtype.is_float())
            found =
                elementwise(b, Op::Add, {found, constant_float(b, 0, node.dtype)}, {false, true});
        std::vector<int> rest;
        for (int other : attr.axes)
            if (other != axis) rest.push_back(other < axis ? other : other - 1);
        return rest.empty() ? found : reduce(b, ReduceOp::Sum, found, rest, false);
    }
    return nullptr;
}

}  // namespace firn
