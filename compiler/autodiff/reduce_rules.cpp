// Cotangents behind reductions.
#include "compiler/autodiff/reverse_run.h"
#include "compiler/program/error.h"

namespace firn {
namespace {

/// A value of the result's shape at every element that it was made from.
Ref spread(ReverseRun& run, const Node& node, const Ref& value) {
    const Shape& whole = node.inputs[0]->shape;
    Shape kept = whole;
    for (int axis : node.as<ReduceAttr>().axes) kept[static_cast<size_t>(axis)] = 1;
    return expand(run.b, reshape(run.b, value, kept), whole);
}

Ref number(ReverseRun& run, double value, DType dtype) {
    return constant(run.b, scalar_float(value, dtype));
}

/// The product of all others: the whole over the element, or where one is 0, the product without
/// it.
Ref product_of_others(ReverseRun& run, const Ref& self) {
    const Ref& x = self->inputs[0];
    const std::vector<int>& axes = self->as<ReduceAttr>().axes;
    const Ref zero = number(run, 0, x->dtype), one = number(run, 1, x->dtype);
    const Ref is_zero = elementwise(run.b, Op::Equal, {x, zero});
    const Ref filled = elementwise(run.b, Op::Select, {is_zero, one, x});
    const Ref rest = spread(run, *self, reduce(run.b, ReduceOp::Prod, filled, axes, false));
    const Ref zeros = spread(
        run, *self, reduce(run.b, ReduceOp::Sum, cast(run.b, is_zero, x->dtype), axes, false));
    const Ref none = elementwise(run.b, Op::Equal, {zeros, zero}),
              only = elementwise(run.b, Op::And,
                                 {is_zero, elementwise(run.b, Op::Equal, {zeros, one})});
    return elementwise(run.b, Op::Select,
                       {none, elementwise(run.b, Op::Div, {rest, filled}),
                        elementwise(run.b, Op::Select, {only, rest, zero})});
}

/// Shared by all elements that are the extreme.
Ref share_of_extreme(ReverseRun& run, const Ref& self, const Ref& g) {
    const Ref& x = self->inputs[0];
    const Ref is =
        cast(run.b, elementwise(run.b, Op::Equal, {x, spread(run, *self, self)}), x->dtype);
    const Ref found = reduce(run.b, ReduceOp::Sum, is, self->as<ReduceAttr>().axes, false);
    const Ref count =
        elementwise(run.b, Op::Max, {found, number(run, 1, x->dtype)});  // of nan none
    return elementwise(run.b, Op::Mul,
                       {is, spread(run, *self, elementwise(run.b, Op::Div, {g, count}))});
}

}  // namespace

void reverse_reduce(ReverseRun& run, const Ref& self, const Cotangent& g) {
    const Ref& x = self->inputs[0];
    switch (self->as<ReduceAttr>().op) {
        case ReduceOp::Sum: return contribute(run, x, spread(run, *self, g.value), g.chosen);
        case ReduceOp::Prod: {
            const Cotangent all{spread(run, *self, g.value), g.chosen};
            return contribute(run, x, scaled(run, all, product_of_others(run, self)), g.chosen);
        }
        case ReduceOp::Min:
        case ReduceOp::Max:
            return contribute(run, x, share_of_extreme(run, self, g.value), g.chosen);
        default: refuse_gradient(*self, "any and all");
    }
}

}  // namespace firn
