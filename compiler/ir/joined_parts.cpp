// Values that are parts side by side along an axis.
#include "compiler/ir/joined_parts.h"

#include <algorithm>
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

/// Returns whether `side` is a Pad that puts its input at `begin` along the axis, and nowhere else.
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

namespace {

std::vector<Ref> sides_of(const Ref& x, size_t count) {
    std::vector<Ref> out;
    Ref rest = x;
    for (; out.size() + 1 < count; rest = rest->inputs[2]) out.push_back(rest->inputs[1]);
    out.push_back(rest);
    return out;
}

std::vector<size_t> long_axes(const Shape& shape) {
    std::vector<size_t> out;
    for (size_t axis = 0; axis < shape.size(); ++axis)
        if (!shape[axis].is(1)) out.push_back(axis);
    return out;
}

PlacedParts placed(const Builder& b, const Ref& x, size_t most);

/// Returns the parts below a reshape that adds or drops axes of one index, as stacks do before they
/// join; nothing for other nodes.
std::optional<PlacedParts> placed_below(const Builder& b, const Ref& x, size_t most) {
    if (x->op != Op::Reshape) return std::nullopt;
    const Ref& input = x->inputs[0];
    const std::vector<size_t> from = long_axes(input->shape), to = long_axes(x->shape);
    if (from.size() != to.size()) return std::nullopt;
    for (size_t k = 0; k < from.size(); ++k)
        if (!(input->shape[from[k]] == x->shape[to[k]])) return std::nullopt;
    PlacedParts out = placed(b, input, most);
    const Shape extents = std::exchange(out.extents, x->shape);
    for (size_t k = 0; k < from.size(); ++k) out.extents[to[k]] = extents[from[k]];
    for (int& axis : out.axes) {
        const auto at = std::find(from.begin(), from.end(), static_cast<size_t>(axis));
        axis = static_cast<int>(to[static_cast<size_t>(at - from.begin())]);
    }
    for (PlacedPart& part : out.parts) {
        const std::vector<Size> begin =
            std::exchange(part.begin, std::vector<Size>(x->shape.size(), Size(0)));
        for (size_t k = 0; k < from.size(); ++k) part.begin[to[k]] = begin[from[k]];
        part.value = reshape(b, part.value, out.extents);
    }
    return out;
}

/// x itself, where it is not joined.
PlacedParts placed(const Builder& b, const Ref& x, size_t most) {
    if (auto below = placed_below(b, x, most)) return std::move(*below);
    const std::vector<Size> start(x->shape.size(), Size(0));
    const auto joined = joined_parts(*x);
    if (!joined) return {x->shape, {}, {{start, x}}};
    const auto axis = static_cast<size_t>(joined->axis);
    PlacedParts flat{x->shape, {joined->axis}, {}}, deep;
    flat.extents[axis] = joined->extent;
    bool alike = true;
    const std::vector<Ref> sides = sides_of(x, joined->sides.size());
    for (size_t k = 0; k < sides.size(); ++k) {
        const Ref part = part_of(b, *joined, k, sides[k]);
        flat.parts.push_back({start, part});
        flat.parts.back().begin[axis] = begin_of(*joined, k);
        // Looks for the parts of a part below the padding around it, or before it is cut out.
        const bool padded = pads(*sides[k], axis, begin_of(*joined, k), joined->extent);
        PlacedParts inner = placed(b, padded ? part : sides[k], most);
        alike = alike && !inner.along(joined->axis);
        if (!alike) continue;
        inner.extents[axis] = joined->extent;
        if (k == 0) deep.extents = inner.extents, deep.axes = inner.axes;
        alike = inner.extents == deep.extents && inner.axes == deep.axes;
        for (PlacedPart& one : inner.parts) {
            if (!padded) one.value = part_of(b, *joined, k, one.value);
            one.begin[axis] = one.begin[axis] + begin_of(*joined, k);
            deep.parts.push_back(std::move(one));
        }
    }
    if (!alike || deep.axes.empty() || deep.parts.size() > most) return flat;
    deep.axes.push_back(joined->axis);
    std::sort(deep.axes.begin(), deep.axes.end());
    return deep;
}

}  // namespace

bool PlacedParts::along(int axis) const {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

std::optional<PlacedParts> placed_parts(const Builder& b, const Ref& x, size_t most) {
    PlacedParts out = placed(b, x, most);
    if (out.axes.empty()) return std::nullopt;
    return out;
}

}  // namespace firn
