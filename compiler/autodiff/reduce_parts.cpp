// The parts of derivatives of reductions.
#include "compiler/autodiff/reduce_parts.h"

namespace firn {
namespace {

Ref number(const Builder& b, double value, DType dtype) {
    return constant(b, scalar_float(value, dtype));
}

}  // namespace

Ref spread(const Builder& b, const Node& node, const Ref& value) {
    const Shape& whole = node.inputs[0]->shape;
    Shape kept = whole;
    for (int axis : node.as<ReduceAttr>().axes) kept[static_cast<size_t>(axis)] = 1;
    return expand(b, reshape(b, value, kept), whole);
}

Ref product_of_others(const Builder& b, const Ref& self) {
    const Ref& x = self->inputs[0];
    const std::vector<int>& axes = self->as<ReduceAttr>().axes;
    const Ref zero = number(b, 0, x->dtype), one = number(b, 1, x->dtype);
    const Ref is_zero = elementwise(b, Op::Equal, {x, zero});
    const Ref no = constant_int(b, 0), single = constant_int(b, 1);
    const Ref filled = elementwise(b, Op::Select, {is_zero, one, x});
    const Ref rest = spread(b, *self, reduce(b, ReduceOp::Prod, filled, axes, false));
    const Ref zeros =
        spread(b, *self, reduce(b, ReduceOp::Sum, cast(b, is_zero, i32), axes, false));
    const Ref none = elementwise(b, Op::Equal, {zeros, no}),
              only = elementwise(b, Op::And, {is_zero, elementwise(b, Op::Equal, {zeros, single})});
    return elementwise(b, Op::Select,
                       {none, elementwise(b, Op::Div, {rest, filled}),
                        elementwise(b, Op::Select, {only, rest, zero})});
}

DType wide_float(DType x) { return x.is_half() ? f32 : x; }

Ref over_count(const Builder& b, const Ref& x, const Ref& count) {
    const DType wide = wide_float(x->dtype);
    const Ref some = elementwise(b, Op::Max, {count, constant_int(b, 1)});
    return cast(b, elementwise(b, Op::Div, {cast(b, x, wide), cast(b, some, wide)}), x->dtype);
}

Extremes extremes(const Builder& b, const Ref& self) {
    const Ref is = elementwise(b, Op::Equal, {self->inputs[0], spread(b, *self, self)});
    return {is, reduce(b, ReduceOp::Sum, cast(b, is, i32), self->as<ReduceAttr>().axes, false)};
}

}  // namespace firn
