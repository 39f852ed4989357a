// Elementwise functions as rows of the operation table, and those composed of them.
#include "compiler/frontend/math.h"

#include <cmath>

#include "compiler/autodiff/logistic.h"
#include "compiler/frontend/apply.h"
#include "compiler/frontend/grad.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/movement.h"
#include "compiler/frontend/record.h"
#include "compiler/frontend/slope.h"

namespace firn {
namespace {

using Tensors = std::vector<Tensor>;

/// Returns f16 and bf16 as f32, so that a result of several steps is rounded once.
Tensor in_f32(const Tensor& x) { return x.dtype().is_half() ? x.as(f32) : x; }

/// Returns the operands in the shape of the value computed from them.
Tensors in_shape_of(const Tensor& value, const Tensors& operands) {
    Tensors out;
    for (const Tensor& each : operands) out.push_back(expand(each, value.shape()));
    return out;
}

/// `value`, which is one of the three that it is made from, or the same of several; its gradient is
/// shared by those that are equal to it.
Tensor shared_by_equals(const Tensor& value, const Tensors& operands) {
    if (!value.dtype().is_float()) return value;
    const Tensors three = in_shape_of(value, operands);
    return custom_gradient([&](const Tensors&) { return value; }, three,
                           [](const Tensors& xs, const Tensor& y, const Tensor& g) {
                               Tensor count = 0.0f;
                               for (const Tensor& x : xs) count = count + (x == y).as(f32);
                               const Tensor share = g / max(count, 1.0f).as(g.dtype());
                               Tensors out;
                               for (const Tensor& x : xs) out.push_back(select(x == y, share, 0));
                               return out;
                           });
}

/// `value`, which is x kept between low and high: where it lies between them or at one of them, its
/// gradient is that of x, else that of the bound which it became.
Tensor kept_between(const Tensor& value, const Tensors& x_low_high, bool keeps_nan) {
    if (!value.dtype().is_float()) return value;
    return custom_gradient(
        [&](const Tensors&) { return value; }, in_shape_of(value, x_low_high),
        [keeps_nan](const Tensors& in, const Tensor&, const Tensor& g) {
            const Tensor inside = (in[1] <= in[0]) & (in[0] <= in[2]),
                         above = in[2] < max(in[0], in[1]);
            Tensor not_below = inside | above;
            if (keeps_nan) not_below = not_below | is_nan(in[0]);
            return Tensors{select(inside, g, 0), select(not_below, 0, g), select(above, g, 0)};
        });
}

}  // namespace

// Defines a function for each row of the table that names one.
#define ELEMENT(name, arity, types, result, properties)
#define FUNCTION(name, function, types, result, properties) \
    Tensor function(const Operand& x) { return apply(Op::name, {x}); }
#include "compiler/ir/elementwise.def"

Tensor square(const Operand& x) { return x * x; }
Tensor sigmoid(const Operand& x) {
    LineScope at(x.line());
    const Tensor own = meet_as_floats({x})[0];
    return Tensor::from_node(logistic(builder_at(x), in_f32(own).node())).as(own.dtype());
}

Tensor cast(const Operand& x, DType dtype) {
    return Tensor::from_node(cast(builder_at(x), x.node(), dtype));
}
Tensor bitcast(const Operand& x, DType dtype) {
    return Tensor::from_node(bitcast(builder_at(x), x.node(), dtype));
}

Tensor pow_of(const Arg& a, const Arg& b) { return apply(Op::Pow, {a, b}); }
Tensor atan2_of(const Arg& a, const Arg& b) { return apply(Op::Atan2, {a, b}); }
Tensor min_of(const Arg& a, const Arg& b) {
    LineScope at(a.line());
    return in_own_type(apply(Op::Min, {a, b}), {a, b});
}
Tensor max_of(const Arg& a, const Arg& b) {
    LineScope at(a.line());
    return in_own_type(apply(Op::Max, {a, b}), {a, b});
}
Tensor min_of(const Arg& a, const Arg& b, const Arg& c) {
    LineScope at(a.line());
    const std::vector<Tensor> in = meet({a, b, c});
    return in_own_type(shared_by_equals(min(in[0], min(in[1], in[2])), in), {a, b, c});
}
Tensor max_of(const Arg& a, const Arg& b, const Arg& c) {
    LineScope at(a.line());
    const std::vector<Tensor> in = meet({a, b, c});
    return in_own_type(shared_by_equals(max(in[0], max(in[1], in[2])), in), {a, b, c});
}
Tensor min_at(const Tensor& a, const Tensor& b, SourceLine line) {
    return min_of(Arg(a, line), Arg(b, line));
}
Tensor max_at(const Tensor& a, const Tensor& b, SourceLine line) {
    return max_of(Arg(a, line), Arg(b, line));
}
Tensor min_at(const Tensor& a, const Tensor& b, const Arg& c, SourceLine line) {
    return min_of(Arg(a, line), Arg(b, line), c);
}
Tensor max_at(const Tensor& a, const Tensor& b, const Arg& c, SourceLine line) {
    return max_of(Arg(a, line), Arg(b, line), c);
}
Tensor clamp_at(const Tensor& x, const Tensor& low, const Tensor& high, SourceLine line) {
    return clamp_of(Arg(x, line), Arg(low, line), Arg(high, line));
}

Tensor clamp_of(const Arg& x, const Arg& low, const Arg& high) {
    LineScope at(x.line());
    const std::vector<Tensor> in = meet({x, low, high});
    return in_own_type(kept_between(min(max(in[0], in[1]), in[2]), in, false), {x, low, high});
}

Tensor select_of(const Arg& condition, const Arg& a, const Arg& b) {
    DType type = condition.node()->dtype;
    if (!type.is_bool())
        fail_at(condition.line(), std::string("select: the condition is ") + type.name() +
                                      "; it must be a bool: compare it, as in x != 0");
    return apply(Op::Select, {condition, a, b});
}

Tensor mix_of(const Arg& a, const Arg& b, const Arg& t) {
    LineScope at(t.line());
    const std::vector<Tensor> in = meet({a, b, t});
    return in[0] + (in[1] - in[0]) * in[2];
}

Tensor fma_of(const Arg& a, const Arg& b, const Arg& c) {
    LineScope at(c.line());
    const std::vector<Tensor> in = meet({a, b, c});
    return in[0] * in[1] + in[2];
}

Tensor step_of(const Arg& edge, const Arg& x) {
    return select_of(Arg(x < edge, x.line()), Arg(0.0f, x.line()), Arg(1.0f, x.line()));
}

Tensor smoothstep_of(const Arg& low, const Arg& high, const Arg& x) {
    LineScope at(x.line());
    const std::vector<Tensor> in = meet_as_floats({low, high, x});
    Tensor t = min(max((in[2] - in[0]) / (in[1] - in[0]), 0.0f), 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

// --- compositions with numpy's rules -------------------------------------------------------------

Tensor log10(const Operand& x) {
    LineScope at(x.line());
    return log2(x) * 0.30102999566398119521;
}

WholeAndFraction modf(const Operand& x) {
    LineScope at(x.line());
    Tensor whole = trunc(x);
    return {whole, select(is_inf(whole), 0, x.tensor() - whole)};
}

Tensor where_of(const Arg& condition, const Arg& a, const Arg& b) {
    LineScope at(condition.line());
    Tensor test = condition.tensor();
    return select_of(test.as(boolean), a, b);
}

Tensor clip_of(const Arg& x, const Arg& low, const Arg& high) {
    LineScope at(x.line());
    const std::vector<Tensor> in = meet({x, low, high});
    Tensor kept = min(max(in[0], in[1]), in[2]);
    if (x.is_scalar() || !x.node()->dtype.is_float())
        return in_own_type(kept_between(kept, in, false), {x, low, high});
    return kept_between(select(is_nan(in[0]), in[0], kept), in, true);
}

Tensor hypot_of(const Arg& x, const Arg& y) {
    LineScope at(x.line());
    const std::vector<Tensor> in = meet_as_floats({x, y});
    const Tensor a = in_f32(in[0]), b = in_f32(in[1]);
    Tensor large = max(abs(a), abs(b)), ratio = min(abs(a), abs(b)) / large;
    Tensor length = select(large == 0, 0, large * sqrt(1 + ratio * ratio));
    length = select(is_nan(a) | is_nan(b), a + b, length);
    length = select(is_inf(large), large, length);
    return custom_gradient([&](const Tensors&) { return length; }, in_shape_of(length, {a, b}),
                           [](const Tensors& xs, const Tensor& y, const Tensor& g) {
                               Tensors out;
                               for (const Tensor& x : xs) {
                                   Tensor slope = select(is_inf(x), sign(x), x / y);
                                   // The choice is outermost, because the root has an infinite
                                   // slope there.
                                   out.push_back(select(y == 0, 0, scaled_cotangent(g, slope)));
                               }
                               return out;
                           })
        .as(in[0].dtype());
}

/// Returns fmod: for floats the remainder of the magnitudes with the sign of a, which a 0 keeps
/// too; for integers %.
Tensor fmod_of(const Arg& a, const Arg& b) {
    LineScope at(a.line());
    const std::vector<Tensor> in = meet({a, b});
    const Tensor &x = in[0], &y = in[1];
    if (!x.dtype().is_float()) return x % y;
    const Tensor rest = select(x < 0, -x, x) % abs(y), signed_rest = select(x < 0, -rest, rest);
    return select((x == 0) & (abs(y) > 0), x, signed_rest);
}

Tensor floor_div_of(const Arg& a, const Arg& b) {
    LineScope at(a.line());
    const std::vector<Tensor> in = meet({a, b});
    const Tensor &x = in[0], &y = in[1];
    if (x.dtype().is_half()) return floor_div_of(x.as(f32), y.as(f32)).as(x.dtype());
    if (x.dtype().is_float()) {
        // Follows numpy: x without its remainder is a multiple of y except for rounding. With y = 0
        // the result is the quotient itself; a quotient of 0 keeps its sign.
        const Tensor rest = fmod_of(x, y), quotient = x / y;
        const Tensor below = (rest != 0) & ((rest < 0) != (y < 0));
        const Tensor turns = (x - rest) / y - below.as(x.dtype()), whole = floor(turns);
        const Tensor nearest = select(turns - whole > 0.5f, whole + 1.0f, whole);
        return select(y == 0, quotient, select(turns == 0, quotient * 0.0f, nearest));
    }
    Tensor quotient = x / y;
    if (!x.dtype().is_signed()) return quotient;
    Tensor rest = x % y;
    return select((rest != 0) & ((rest ^ y) < 0), quotient - 1, quotient);
}

Tensor remainder_of(const Arg& a, const Arg& b) {
    LineScope at(a.line());
    const std::vector<Tensor> in = meet({a, b});
    const Tensor &x = in[0], &y = in[1];
    Tensor rest = x % y;
    if (x.dtype().is_float() || !x.dtype().is_signed()) return rest;
    return select((rest != 0) & ((rest ^ y) < 0), rest + y, rest);
}

Tensor logaddexp_of(const Arg& a, const Arg& b) {
    LineScope at(a.line());
    const std::vector<Tensor> in = meet_as_floats({a, b});
    const Tensor x = in_f32(in[0]), y = in_f32(in[1]);
    Tensor grown = max(x, y) + log1p(exp(-abs(x - y)));
    // Equal operands come first: the difference of two infinities is nan.
    Tensor value = select(x == y, x + std::log(2.0), grown);
    return custom_gradient([&](const Tensors&) { return value; }, in_shape_of(value, {x, y}),
                           [](const Tensors& xs, const Tensor&, const Tensor& g) {
                               Tensor both = is_inf(xs[0]) & (xs[0] == xs[1]);
                               Tensor away = select(both, 0, xs[0] - xs[1]);
                               return Tensors{scaled_cotangent(g, sigmoid(away)),
                                              scaled_cotangent(g, sigmoid(-away))};
                           })
        .as(in[0].dtype());
}

}  // namespace firn
