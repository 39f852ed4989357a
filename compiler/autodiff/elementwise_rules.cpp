// Cotangents behind elementwise operations.
#include <string>

#include "compiler/autodiff/derivatives.h"
#include "compiler/autodiff/reverse_run.h"
#include "compiler/base/error.h"

namespace firn {
namespace {

/// A square, a power and a magnitude are flat, or have no slope, where they are 0: behind a root,
/// whose slope is infinite there, nothing comes through. So a length has gradient 0 where it is 0.
bool is_flat_at_zero(const Node& node, size_t k) {
    const bool is_square = node.op == Op::Mul && node.inputs[0] == node.inputs[1];
    return is_square || node.op == Op::Abs || (node.op == Op::Pow && k == 0);
}

void reverse_smooth(ReverseRun& run, const Ref& self, const Cotangent& g) {
    for (size_t k = 0; k < self->inputs.size(); ++k) {
        const Ref& input = self->inputs[k];
        if (!run.active.contains(input.get())) continue;
        const auto text = partial_derivative(self->op, static_cast<int>(k));
        if (!text) refuse_gradient(*self, info(self->op).name);
        if (*text == "0") {
            contribute(run, input, zeros_like(run, *input), g.chosen);
        } else if (*text == "1" || *text == "-1") {
            const Ref part = *text == "1" ? g.value : elementwise(run.b, Op::Neg, {g.value});
            contribute(run, input, part, g.chosen);
        } else {
            const Ref factor = partial_derivative(run.b, self, static_cast<int>(k));
            const Cotangent wide{cast(run.b, g.value, factor->dtype), g.chosen};
            Ref part = scaled(run, wide, factor);
            if (is_flat_at_zero(*self, k)) {
                const Ref zero = constant(run.b, scalar_float(0, factor->dtype));
                part = elementwise(run.b, Op::Select,
                                   {elementwise(run.b, Op::Equal, {factor, zero}), zero, part});
            }
            contribute(run, input, cast(run.b, part, self->dtype), g.chosen);
        }
    }
}

/// g where the condition is `taken`, else 0.
Ref where(ReverseRun& run, const Ref& condition, const Ref& g, bool taken) {
    const Ref zero = constant(run.b, scalar_float(0, g->dtype));
    return elementwise(
        run.b, Op::Select,
        taken ? std::vector<Ref>{condition, g, zero} : std::vector<Ref>{condition, zero, g});
}

void reverse_select(ReverseRun& run, const Ref& self, const Cotangent& g) {
    for (size_t side : {1, 2})
        if (run.active.contains(self->inputs[side].get()))
            contribute(run, self->inputs[side], where(run, self->inputs[0], g.value, side == 1),
                       true);
}

/// The input that is taken gets the cotangent, two equal ones half of it each. An input that is
/// left out gets 0 even where it is nan.
void reverse_extreme(ReverseRun& run, const Ref& self, const Cotangent& g) {
    const Ref &a = self->inputs[0], &b = self->inputs[1];
    const Ref half =
        elementwise(run.b, Op::Mul, {g.value, constant(run.b, scalar_float(0.5, self->dtype))});
    const Ref equal = elementwise(run.b, Op::Equal, {a, b});
    for (const Ref& input : {a, b}) {
        if (!run.active.contains(input.get())) continue;
        const Ref taken = elementwise(run.b, Op::Equal, {input, self});
        const Ref part =
            elementwise(run.b, Op::Select, {equal, half, where(run, taken, g.value, true)});
        contribute(run, input, part, true);
        if (a == b) break;  // twice the half
    }
    if (a == b) contribute(run, a, half, g.chosen);
}

}  // namespace

void reverse_elementwise(ReverseRun& run, const Ref& self, const Cotangent& g) {
    switch (self->op) {
        case Op::Cast:
            return contribute(run, self->inputs[0], cast(run.b, g.value, self->inputs[0]->dtype),
                              g.chosen);
        case Op::Bitcast: refuse_gradient(*self, "the bits of a number");
        case Op::Select: return reverse_select(run, self, g);
        case Op::Min:
        case Op::Max: return reverse_extreme(run, self, g);
        default: return reverse_smooth(run, self, g);
    }
}

}  // namespace firn
