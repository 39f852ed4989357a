// Tangents of operations.
#include "compiler/autodiff/derivatives.h"
#include "compiler/autodiff/forward_run.h"
#include "compiler/autodiff/reduce_parts.h"
#include "compiler/autodiff/reverse.h"
#include "compiler/autodiff/reverse_run.h"
#include "compiler/autodiff/store_shares.h"
#include "compiler/base/error.h"
#include "compiler/ir/text.h"

namespace firn {
namespace {

Ref sum_of(const Builder& b, const Ref& sum, const Ref& part) {
    return sum ? elementwise(b, Op::Add, {sum, part}) : part;
}

Ref forward_smooth(ForwardRun& run, const Ref& self) {
    Ref out;
    for (size_t k = 0; k < self->inputs.size(); ++k) {
        const Ref t = run.tangent(self->inputs[k]);
        if (!t) continue;
        const auto text = partial_derivative(self->op, static_cast<int>(k));
        if (!text) refuse_gradient(*self, info(self->op).name);
        if (*text == "0") continue;
        Ref part = t;
        if (*text == "-1") part = elementwise(run.b, Op::Neg, {t});
        if (*text != "1" && *text != "-1") {
            const Ref factor = partial_derivative(run.b, self, static_cast<int>(k));
            const Ref wide = cast(run.b, t, factor->dtype);
            part = elementwise(run.b, Op::Mul, {wide, factor});
            // The root of a value that does not change does not change either, even where its slope
            // is infinite.
            if (self->op == Op::Sqrt) {
                const Ref zero = constant(run.b, scalar_float(0, factor->dtype));
                part = elementwise(run.b, Op::Select,
                                   {elementwise(run.b, Op::Equal, {wide, zero}), zero, part});
            }
            part = cast(run.b, part, self->dtype);
        }
        out = sum_of(run.b, out, part);
    }
    return out;
}

/// The tangent of the input that is taken, or the mean of both if they are equal.
Ref forward_extreme(ForwardRun& run, const Ref& self) {
    const Ref &a = self->inputs[0], &b = self->inputs[1];
    const Ref ta = run.tangent_or_zeros(a), tb = run.tangent_or_zeros(b);
    const auto op = [&](Op o, const std::vector<Ref>& inputs) {
        return elementwise(run.b, o, inputs);
    };
    const Ref half = constant(run.b, scalar_float(0.5, self->dtype));
    const Ref zero = constant(run.b, scalar_float(0, self->dtype));
    const Ref mean = op(Op::Mul, {op(Op::Add, {ta, tb}), half});
    const Ref of_b = op(Op::Select, {op(Op::Equal, {b, self}), tb, zero});
    const Ref taken = op(Op::Select, {op(Op::Equal, {a, self}), ta, of_b});
    return op(Op::Select, {op(Op::Equal, {a, b}), mean, taken});
}

/// The tangent of a store that takes the extreme: the mean of the tangents of all elements that
/// equal it.
Ref forward_extreme_store(ForwardRun& run, const Ref& self, const Ref& target, const Ref& values) {
    const ExtremeShares shares = extreme_shares(run.b, self);
    const DType wide = wide_float(self->dtype);
    const Ref zero = constant(run.b, scalar_float(0, wide));
    const auto taken = [&](const Ref& where, const Ref& x) {
        return elementwise(run.b, Op::Select, {where, cast(run.b, x, wide), zero});
    };
    const Ref all = elementwise(
        run.b, Op::Add,
        {taken(shares.own, target), summed_at_places(run.b, *self, taken(shares.marks, values))});
    return cast(run.b, over_count(run.b, all, shares.count), self->dtype);
}

/// The sum, over all factors, of the factor's tangent times the product of the others.
Ref forward_product_store(ForwardRun& run, const Ref& self, const Ref& target, const Ref& values) {
    const OthersProducts others = others_products(run.b, self);
    const Ref own = elementwise(run.b, Op::Mul, {others.of_target, target});
    const Ref met =
        summed_at_places(run.b, *self, elementwise(run.b, Op::Mul, {others.of_values, values}));
    return elementwise(run.b, Op::Add, {own, met});
}

}  // namespace

Ref forward_elementwise(ForwardRun& run, const Ref& self) {
    switch (self->op) {
        case Op::Cast: {
            const Ref t = run.tangent(self->inputs[0]);
            return t ? cast(run.b, t, self->dtype) : nullptr;
        }
        case Op::Bitcast: refuse_gradient(*self, "the bits of a number");
        case Op::Select:
            return elementwise(run.b, Op::Select,
                               {self->inputs[0], run.tangent_or_zeros(self->inputs[1]),
                                run.tangent_or_zeros(self->inputs[2])});
        case Op::Min:
        case Op::Max: return forward_extreme(run, self);
        default: return forward_smooth(run, self);
    }
}

Ref forward_access(ForwardRun& run, const Ref& self) {
    if (self->op == Op::Gather) {
        const Ref t = run.tangent(self->inputs[0]);
        const GatherAttr& attr = self->as<GatherAttr>();
        return t ? gather(run.b, t, {self->inputs.begin() + 1, self->inputs.end()}, attr.modes,
                          scalar_float(0, self->dtype), attr.own)
                 : nullptr;
    }
    const ScatterAttr& attr = self->as<ScatterAttr>();
    const Ref target = run.tangent_or_zeros(self->inputs[0]),
              values = run.tangent_or_zeros(self->inputs[1]);
    switch (attr.op) {
        case ScatterOp::Last:
        case ScatterOp::Add: return scatter(run.b, target, values, indices_of(*self), attr);
        case ScatterOp::Min:
        case ScatterOp::Max: return forward_extreme_store(run, self, target, values);
        case ScatterOp::Mul: return forward_product_store(run, self, target, values);
        default: refuse_gradient(*self, "stores that combine bits");
    }
}

Ref forward_reduce(ForwardRun& run, const Ref& self) {
    const Ref t = run.tangent(self->inputs[0]);
    if (!t) return nullptr;
    const ReduceAttr& attr = self->as<ReduceAttr>();
    const auto summed = [&](const Ref& x) {
        return reduce(run.b, ReduceOp::Sum, x, attr.axes, false);
    };
    switch (attr.op) {
        case ReduceOp::Sum: return summed(t);
        case ReduceOp::Prod:
            return summed(elementwise(run.b, Op::Mul, {t, product_of_others(run.b, self)}));
        case ReduceOp::Min:
        case ReduceOp::Max: {
            const Extremes found = extremes(run.b, self);
            const Ref wide = cast(run.b, t, wide_float(t->dtype));
            const Ref zero = constant(run.b, scalar_float(0, wide->dtype));
            const Ref all = summed(elementwise(run.b, Op::Select, {found.is, wide, zero}));
            return cast(run.b, over_count(run.b, all, found.count), t->dtype);
        }
        default: refuse_gradient(*self, "any and all");
    }
}

namespace {

Ref forward_by_own_rule(ForwardRun& run, const Ref& self, const std::vector<Ref>& inputs) {
    std::vector<Ref> tangents;
    for (const Ref& input : inputs) tangents.push_back(run.tangent(input));
    const Ref value = region_arg(run.b, self->dtype, self->shape);
    const Ref found = (*self->as<RuledAttr>().forward)(value, tangents, inputs);
    if (!found) return nullptr;
    if (found->shape != self->shape)
        throw UserError("custom_gradient: the forward rule gives a tangent of shape " +
                        text(found->shape) + " for a value of shape " + text(self->shape) +
                        in_brackets(self->lines));
    return substitute(run.b.table, {cast(run.b, found, self->dtype)}, {{value.get(), self}})[0];
}

}  // namespace

Ref forward_by_rule(ForwardRun& run, const Ref& self) {
    const std::vector<Ref> inputs(self->inputs.begin() + 1, self->inputs.end());
    if (self->as<RuledAttr>().forward) return forward_by_own_rule(run, self, inputs);
    const Ref g = region_arg(run.b, self->dtype, self->shape);
    const std::vector<Ref> parts = cotangents_by_rule(run.b, self, g);
    std::vector<Ref> results, seeds;
    for (size_t k = 0; k < parts.size(); ++k) {
        const Ref t = run.tangent(inputs[k]);
        if (!parts[k] || !t) continue;
        results.push_back(parts[k]);
        seeds.push_back(t);
    }
    const Ref found = reverse_gradients(run.b, results, seeds, {g})[0];
    // A linear function has the same derivative everywhere.
    const Ref one = expand(run.b, constant(run.b, scalar_float(1, self->dtype)), self->shape);
    return found ? substitute(run.b.table, {found}, {{g.get(), one}})[0] : nullptr;
}

}  // namespace firn
