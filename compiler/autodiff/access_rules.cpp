// Cotangents behind reads and stores at computed indices. An element that no index reads, and a
// value that is stored outside of its target, contribute nothing even where they are nan
// (Cotangent::chosen).
#include "compiler/autodiff/reduce_parts.h"
#include "compiler/autodiff/reverse_run.h"
#include "compiler/autodiff/shifted_reads.h"
#include "compiler/autodiff/store_shares.h"
#include "compiler/base/error.h"
#include "compiler/ir/value_bounds.h"

namespace firn {
namespace {

Ref between(ReverseRun& run, const Ref& i, const Ref& low, const Ref& high) {
    return elementwise(run.b, Op::Min, {elementwise(run.b, Op::Max, {i, low}), high});
}

/// i modulo n, not negative.
Ref wrapped(ReverseRun& run, const Ref& i, const Ref& n) {
    const Ref rest = elementwise(run.b, Op::Mod, {i, n}), zero = constant_int(run.b, 0);
    return elementwise(
        run.b, Op::Select,
        {elementwise(run.b, Op::Less, {rest, zero}), elementwise(run.b, Op::Add, {rest, n}), rest});
}

/// The element that is read at `i`, -1 or beyond the end where none is.
Ref element_at(ReverseRun& run, const Ref& i, const Size& extent, Bounds mode) {
    const Interval bounds = value_bounds(*i, {});
    if (bounds.lo >= 0 && bounds.hi < extent.lower_bound()) return i;
    const Ref n = size_value(run.b, extent), zero = constant_int(run.b, 0),
              one = constant_int(run.b, 1);
    switch (mode) {
        case Bounds::Constant:
        case Bounds::Unchecked: return i;
        case Bounds::Clamp: return between(run, i, zero, elementwise(run.b, Op::Sub, {n, one}));
        case Bounds::Wrap: return wrapped(run, i, n);
        case Bounds::Mirror: {
            // 0 .. n-1, n-1 .. 0, and again.
            const Ref twice = elementwise(run.b, Op::Add, {n, n}), at = wrapped(run, i, twice);
            const Ref back =
                elementwise(run.b, Op::Sub, {elementwise(run.b, Op::Sub, {twice, one}), at});
            return elementwise(run.b, Op::Select,
                               {elementwise(run.b, Op::Less, {at, n}), at, back});
        }
        case Bounds::Reflect: {
            // 0 .. n-1, n-2 .. 1, and again; of one element 0.
            const Ref period = size_value(run.b, max(extent * Size(2) - Size(2), Size(1)));
            const Ref at = wrapped(run, i, period);
            return elementwise(run.b, Op::Select,
                               {elementwise(run.b, Op::Less, {at, n}), at,
                                elementwise(run.b, Op::Sub, {period, at})});
        }
    }
    throw InternalError("internal error: an unknown mode of reading outside");
}

/// The position that wins, by its number, for each element of the target: -1 where there is none.
Ref winners(ReverseRun& run, const Node& scatter, const Ref& number) {
    const Ref none = expand(run.b, constant_int(run.b, -1), scatter.shape);
    return firn::scatter(run.b, none, number, indices_of(scatter), {ScatterOp::Max});
}

/// Replaces the cotangent of the target at the positions of a store at which no two meet. All other
/// elements are left as they are: in a loop, whose iterations store at few positions, none of them
/// is visited.
void replace_at_positions(ReverseRun& run, const Ref& self, const Cotangent& g, const Ref& values) {
    ScatterAttr attr = self->as<ScatterAttr>();
    attr.op = ScatterOp::Last, attr.unique = true;
    contribute(run, self->inputs[0], firn::scatter(run.b, g.value, values, indices_of(*self), attr),
               true);
}

/// The last one at each place replaces what was there.
void reverse_replace(ReverseRun& run, const Ref& self, const Cotangent& g) {
    const Ref &target = self->inputs[0], &values = self->inputs[1];
    const Shape& positions = values->shape;
    const Ref number = reshape(run.b, index(run.b, {element_count(positions)}, 0), positions);
    const Ref zero = constant(run.b, scalar_float(0, g.value->dtype));
    if (no_two_meet(*self)) {
        replace_at_positions(run, self, g, expand(run.b, zero, positions));
        contribute(run, values, at_positions(run.b, *self, g.value, 0), true);
        return;
    }
    const Ref winner = winners(run, *self, number);
    const Ref kept = elementwise(run.b, Op::Less, {winner, constant_int(run.b, 0)});
    contribute(run, target, elementwise(run.b, Op::Select, {kept, g.value, zero}), true);
    const Ref own =
        gather(run.b, winner, indices_of(*self),
               std::vector<Bounds>(self->shape.size(), Bounds::Constant), scalar_int(-1).to(i32));
    const Ref wins = elementwise(run.b, Op::Equal, {own, number});
    contribute(run, values,
               elementwise(run.b, Op::Select, {wins, at_positions(run.b, *self, g.value, 0), zero}),
               true);
}

/// Shared by all that are the extreme, the target among them.
void reverse_extreme_store(ReverseRun& run, const Ref& self, const Cotangent& g) {
    const Ref &target = self->inputs[0], &values = self->inputs[1];
    const Ref zero = constant(run.b, scalar_float(0, self->dtype));
    if (no_two_meet(*self)) {
        const ExtremeShares shares = extreme_shares_at_positions(run.b, self);
        const Ref share = over_count(run.b, at_positions(run.b, *self, g.value, 0), shares.count);
        const auto chosen = [&](const Ref& is) {
            return elementwise(run.b, Op::Select, {is, share, zero});
        };
        replace_at_positions(run, self, g, chosen(shares.own));
        return contribute(run, values, chosen(shares.marks), true);
    }
    const ExtremeShares shares = extreme_shares(run.b, self);
    const Ref share = over_count(run.b, g.value, shares.count);
    contribute(run, target, elementwise(run.b, Op::Select, {shares.own, share, zero}), true);
    const Ref there = at_positions(run.b, *self, share, 0);
    contribute(run, values, elementwise(run.b, Op::Select, {shares.marks, there, zero}), true);
}

/// To each the product of the others.
void reverse_product_store(ReverseRun& run, const Ref& self, const Cotangent& g) {
    if (no_two_meet(*self)) {
        const Cotangent there{at_positions(run.b, *self, g.value, 0), true};
        const Ref own = at_positions(run.b, *self, self->inputs[0], 1);
        replace_at_positions(run, self, g, scaled(run, there, self->inputs[1]));
        return contribute(run, self->inputs[1], scaled(run, there, own), true);
    }
    const OthersProducts others = others_products(run.b, self);
    contribute(run, self->inputs[0], scaled(run, g, others.of_target), g.chosen);
    const Cotangent there{at_positions(run.b, *self, g.value, 0), true};
    contribute(run, self->inputs[1], scaled(run, there, others.of_values), true);
}

}  // namespace

void reverse_gather(ReverseRun& run, const Ref& self, const Cotangent& g) {
    const Ref& source = self->inputs[0];
    const GatherAttr& attr = self->as<GatherAttr>();
    if (!run.active.contains(source.get())) return;
    if (const auto shifted = reverse_shifted_read(run, *self, g.value))
        return contribute(run, source, *shifted, true);
    std::vector<Ref> at;
    for (size_t k = 0; k < source->shape.size(); ++k)
        at.push_back(element_at(run, self->inputs[k + 1], source->shape[k], attr.modes[k]));
    if (Ref* sum = sum_of(run, *source)) {
        *sum = scatter(run.b, *sum, cast(run.b, g.value, (*sum)->dtype), at, {ScatterOp::Add});
        return;
    }
    contribute(run, source, scatter(run.b, zeros_like(run, *source), g.value, at, {ScatterOp::Add}),
               true);
}

void reverse_scatter(ReverseRun& run, const Ref& self, const Cotangent& g) {
    const ScatterAttr& attr = self->as<ScatterAttr>();
    switch (attr.op) {
        case ScatterOp::Last: return reverse_replace(run, self, g);
        case ScatterOp::Add:
            contribute(run, self->inputs[0], g.value, g.chosen);
            if (run.active.contains(self->inputs[1].get()))
                contribute(run, self->inputs[1], at_positions(run.b, *self, g.value, 0), true);
            return;
        case ScatterOp::Min:
        case ScatterOp::Max: return reverse_extreme_store(run, self, g);
        case ScatterOp::Mul: return reverse_product_store(run, self, g);
        default: refuse_gradient(*self, "stores that combine bits");
    }
}

}  // namespace firn
