// Cotangents behind movement: each element back to where it came from, sums where it was repeated.
#include "compiler/autodiff/reverse_run.h"
#include "compiler/base/error.h"

namespace firn {
namespace {

/// The axes along which `from` is repeated in `to`, of `to`.
std::vector<int> repeated_axes(const Shape& from, const Shape& to) {
    const size_t added = to.size() - from.size();
    std::vector<int> out;
    for (size_t k = 0; k < to.size(); ++k)
        if (k < added || (from[k - added].is(1) && !to[k].is(1)))
            out.push_back(static_cast<int>(k));
    return out;
}

Ref from_expand(ReverseRun& run, const Node& node, const Ref& g) {
    const Shape& to = node.inputs[0]->shape;
    const std::vector<int> axes = repeated_axes(to, node.shape);
    if (axes.empty()) return g;
    return reshape(run.b, reduce(run.b, ReduceOp::Sum, g, axes, false), to);
}

Ref from_permute(ReverseRun& run, const Node& node, const Ref& g) {
    const std::vector<int>& axes = node.as<PermuteAttr>().axes;
    std::vector<int> back(axes.size());
    for (size_t k = 0; k < axes.size(); ++k)
        back[static_cast<size_t>(axes[k])] = static_cast<int>(k);
    return permute(run.b, g, back);
}

/// The result's index at which the slice has element i of its input: (i - begin) / step, where that
/// is whole; outside elsewhere.
Ref sliced_at(ReverseRun& run, const Node& node, size_t axis) {
    const SliceAttr& attr = node.as<SliceAttr>();
    const Ref i = index(run.b, node.inputs[0]->shape, static_cast<int>(axis));
    const Ref from = elementwise(run.b, Op::Sub, {i, size_value(run.b, attr.begin[axis])});
    if (attr.step[axis] == 1) return from;
    const Ref step = constant_int(run.b, attr.step[axis]), zero = constant_int(run.b, 0);
    const Ref whole =
        elementwise(run.b, Op::Equal, {elementwise(run.b, Op::Mod, {from, step}), zero});
    return elementwise(run.b, Op::Select,
                       {whole, elementwise(run.b, Op::Div, {from, step}), constant_int(run.b, -1)});
}

Ref from_slice(ReverseRun& run, const Node& node, const Ref& g) {
    const SliceAttr& attr = node.as<SliceAttr>();
    const Shape& to = node.inputs[0]->shape;
    bool plain = true;
    for (int64_t step : attr.step) plain &= step == 1;
    if (plain) {
        std::vector<Size> after;
        for (size_t k = 0; k < to.size(); ++k)
            after.push_back(to[k] - attr.begin[k] - node.shape[k]);
        return pad(run.b, g, attr.begin, after, scalar_float(0, g->dtype));
    }
    std::vector<Ref> at;
    for (size_t k = 0; k < to.size(); ++k) at.push_back(sliced_at(run, node, k));
    return gather(run.b, g, at, std::vector<Bounds>(to.size(), Bounds::Constant),
                  scalar_float(0, g->dtype));
}

}  // namespace

void reverse_movement(ReverseRun& run, const Ref& self, const Cotangent& g) {
    const Ref& input = self->inputs[0];
    const auto back = [&]() -> Ref {
        switch (self->op) {
            case Op::Reshape: return reshape(run.b, g.value, input->shape);
            case Op::Permute: return from_permute(run, *self, g.value);
            case Op::Expand: return from_expand(run, *self, g.value);
            case Op::Slice: return from_slice(run, *self, g.value);
            case Op::Pad:
                return slice(run.b, g.value, self->as<PadAttr>().before, input->shape,
                             std::vector<int64_t>(input->shape.size(), 1));
            default: throw InternalError("internal error: movement without a gradient");
        }
    };
    // An element that a slice leaves out has the cotangent 0 even where its value is nan.
    contribute(run, input, back(), g.chosen || self->op == Op::Slice);
}

}  // namespace firn
