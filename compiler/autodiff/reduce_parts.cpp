// What derivatives of reductions are made of.
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
    const Ref filled = elementwise(b, Op::Select, {is_zero, one, x});
    const Ref rest = spread(b, *self, reduce(b, ReduceOp::Prod, filled, axes, false));
    const Ref zeros =
        spread(b, *self, reduce(b, ReduceOp::Sum, cast(b, is_zero, x->dtype), axes, false));
    const Ref none = elementwise(b, Op::Equal, {zeros, zero}),
              only = elementwise(b, Op::And, {is_zero, elementwise(b, Op::Equal, {zeros, one})});
    return elementwise(b, Op::Select,
                       {none, elementwise(b, Op::Div, {rest, filled}),
                        elementwise(b, Op::Select, {only, rest, zero})});
}

Ref share_of_extreme(const Builder& b, const Ref& self) {
    const Ref& x = self->inputs[0];
    const Ref is = cast(b, elementwise(b, Op::Equal, {x, spread(b, *self, self)}), x->dtype);
    const Ref found = reduce(b, ReduceOp::Sum, is, self->as<ReduceAttr>().axes, false);
    const Ref count = elementwise(b, Op::Max, {found, number(b, 1, x->dtype)});  // of nan none
    const Ref one = number(b, 1, x->dtype);
    return elementwise(b, Op::Mul, {is, spread(b, *self, elementwise(b, Op::Div, {one, count}))});
}

}  // namespace firn
