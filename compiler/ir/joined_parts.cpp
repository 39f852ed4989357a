// Values that are parts side by side along an axis.
#include "compiler/ir/joined_parts.h"

#include <utility>

namespace firn {
namespace {

/// A comparison of the own index along an axis: index < end.
struct Below {
    int axis = 0;
    Size end;
};

std::optional<Below> below(const Node& condition) {
    if (condition.op != Op::Less || condition.inputs[0]->op != Op::Index) return std::nullopt;
    const Node* end = condition.inputs[1].get();
    while (end->op == Op::Expand) end = end->inputs[0].get();
    const int axis = condition.inputs[0]->as<IndexAttr>().axis;
    if (end->op == Op::SizeValue) return Below{axis, end->as<SizeAttr>().size};
    if (end->op == Op::Constant && end->dtype == i32)
        return Below{axis, Size(end->as<ConstantAttr>().value.i)};
    return std::nullopt;
}

Size begin_of(const JoinedParts& joined, size_t k) {
    return Size(static_cast<int64_t>(k)) * joined.extent;
}

/// What stands at `begin` along the axis of the pad, and nowhere else; null: something else.
bool pads(const Node& side, size_t axis, const Size& begin, const Size& extent) {
    if (side.op != Op::Pad || !(side.inputs[0]->shape[axis] == extent)) return false;
    const std::vector<Size>& before = side.as<PadAttr>().before;
    for (size_t k = 0; k < before.size(); ++k)
        if (!(before[k] == (k == axis ? begin : Size(0))) ||
            (k != axis && !(side.inputs[0]->shape[k] == side.shape[k])))
            return false;
    return true;
}

}  // namespace

std::optional<JoinedParts> joined_parts(const Node& node) {
    JoinedParts out;
    const Node* at = &node;
    for (; at->op == Op::Select; at = at->inputs[2].get()) {
        const auto choice = below(*at->inputs[0]);
        if (!choice || (!out.sides.empty() && choice->axis != out.axis)) break;
        if (out.sides.empty()) out.axis = choice->axis, out.extent = choice->end;
        const int64_t count = static_cast<int64_t>(out.sides.size()) + 1;
        if (!(choice->end == Size(count) * out.extent)) break;
        out.sides.push_back(at->inputs[1].get());
    }
    if (out.sides.empty()) return std::nullopt;
    out.sides.push_back(at);
    const Size whole = node.shape[static_cast<size_t>(out.axis)],
               all = Size(static_cast<int64_t>(out.sides.size())) * out.extent;
    if (!(whole == all) || out.extent.lower_bound() < 1) return std::nullopt;
    return out;
}

Ref part_of(const Builder& b, const JoinedParts& joined, size_t k, const Ref& side) {
    const auto axis = static_cast<size_t>(joined.axis);
    const Size begin = begin_of(joined, k);
    if (pads(*side, axis, begin, joined.extent)) return side->inputs[0];
    std::vector<Size> first(side->shape.size(), Size(0)), extent = side->shape;
    first[axis] = begin, extent[axis] = joined.extent;
    return slice(b, side, first, extent, std::vector<int64_t>(extent.size(), 1));
}

}  // namespace firn
