// What derivatives of stores are made of.
#include "compiler/autodiff/store_shares.h"

#include <cmath>

namespace firn {

std::vector<Ref> indices_of(const Node& scatter) {
    return {scatter.inputs.begin() + 2, scatter.inputs.end()};
}

Ref at_positions(const Builder& b, const Node& scatter, const Ref& x, double outside) {
    return gather(b, x, indices_of(scatter), std::vector<Bounds>(x->shape.size(), Bounds::Constant),
                  scalar_float(outside, x->dtype));
}

Ref summed_at_places(const Builder& b, const Node& scatter, const Ref& values) {
    const Ref none = expand(b, constant(b, scalar_float(0, values->dtype)), scatter.shape);
    return firn::scatter(b, none, values, indices_of(scatter), {ScatterOp::Add});
}

ExtremeShares extreme_shares(const Builder& b, const Ref& scatter) {
    const auto is = [&](const Ref& x, const Ref& y) {
        return cast(b, elementwise(b, Op::Equal, {x, y}), scatter->dtype);
    };
    ExtremeShares out;
    out.own = is(scatter->inputs[0], scatter);
    out.marks = is(scatter->inputs[1], at_positions(b, *scatter, scatter, std::nan("")));
    const Ref all = elementwise(b, Op::Add, {out.own, summed_at_places(b, *scatter, out.marks)});
    const Ref one = constant(b, scalar_float(1, scatter->dtype));  // where all are nan, none is
    out.count = elementwise(b, Op::Max, {all, one});
    return out;
}

}  // namespace firn
