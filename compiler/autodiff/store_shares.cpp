// Building blocks of the derivatives of stores.
#include "compiler/autodiff/store_shares.h"

#include <cmath>

#include "compiler/ir/distinct_positions.h"

namespace firn {

std::vector<Ref> indices_of(const Node& scatter) {
    return {scatter.inputs.begin() + 2, scatter.inputs.end()};
}

bool no_two_meet(const Node& scatter) {
    const ScatterAttr& attr = scatter.as<ScatterAttr>();
    return attr.unique || (!attr.by_hand && has_distinct_positions(scatter));
}

Ref at_positions(const Builder& b, const Node& scatter, const Ref& x, double outside) {
    return gather(b, x, indices_of(scatter), std::vector<Bounds>(x->shape.size(), Bounds::Constant),
                  scalar_float(outside, x->dtype));
}

Ref summed_at_places(const Builder& b, const Node& scatter, const Ref& values) {
    const Ref none = expand(b, constant(b, scalar_float(0, values->dtype)), scatter.shape);
    return firn::scatter(b, none, values, indices_of(scatter), {ScatterOp::Add});
}

OthersProducts others_products(const Builder& b, const Ref& scatter) {
    const auto op = [&](Op o, const std::vector<Ref>& inputs) { return elementwise(b, o, inputs); };
    const Ref zero = constant(b, scalar_float(0, scatter->dtype)),
              one = constant(b, scalar_float(1, scatter->dtype));
    const Ref &target = scatter->inputs[0], &values = scatter->inputs[1];
    const auto is_zero = [&](const Ref& x) {
        return op(Op::Equal, {x, constant(b, scalar_float(0, x->dtype))});
    };
    const auto without_zeros = [&](const Ref& x) { return op(Op::Select, {is_zero(x), one, x}); };
    const auto count_of = [&](const Ref& x) { return cast(b, is_zero(x), i32); };
    // The number of zeros that meet at an element, and the product of all other factors.
    const Ref zeros =
        op(Op::Add, {count_of(target), summed_at_places(b, *scatter, count_of(values))});
    const Ref rest = firn::scatter(b, without_zeros(target), without_zeros(values),
                                   indices_of(*scatter), {ScatterOp::Mul});
    const auto others = [&](const Ref& x, const Ref& zeros_there, const Ref& rest_there) {
        const Ref left = op(Op::Sub, {zeros_there, count_of(x)});
        return op(Op::Select, {is_zero(left), op(Op::Div, {rest_there, without_zeros(x)}), zero});
    };
    return {others(target, zeros, rest), others(values, at_positions(b, *scatter, zeros, 0),
                                                at_positions(b, *scatter, rest, 0))};
}

ExtremeShares extreme_shares(const Builder& b, const Ref& scatter) {
    const auto is = [&](const Ref& x, const Ref& y) { return elementwise(b, Op::Equal, {x, y}); };
    ExtremeShares out;
    out.own = is(scatter->inputs[0], scatter);
    out.marks = is(scatter->inputs[1], at_positions(b, *scatter, scatter, std::nan("")));
    out.count = elementwise(
        b, Op::Add,
        {cast(b, out.own, i32), summed_at_places(b, *scatter, cast(b, out.marks, i32))});
    return out;
}

ExtremeShares extreme_shares_at_positions(const Builder& b, const Ref& scatter) {
    const Ref extreme = at_positions(b, *scatter, scatter, std::nan(""));
    const auto is_extreme = [&](const Ref& x) { return elementwise(b, Op::Equal, {x, extreme}); };
    const auto count = [&](const Ref& is) { return cast(b, is, i32); };
    ExtremeShares out;
    out.own = is_extreme(at_positions(b, *scatter, scatter->inputs[0], 0));
    out.marks = is_extreme(scatter->inputs[1]);
    out.count = elementwise(b, Op::Add, {count(out.own), count(out.marks)});
    return out;
}

}  // namespace firn
