// Elementwise functions as rows of the operation table, and those composed of them.
#include "compiler/frontend/math.h"

#include <cmath>

#include "compiler/frontend/apply.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/record.h"

namespace firn {

// One for each row of the table that names a function.
#define ELEMENT(name, arity, types, result, glsl, properties)
#define FUNCTION(name, function, types, result, glsl, properties) \
    Tensor function(const Operand& x) { return apply(Op::name, {x}); }
#include "compiler/ir/elementwise.def"

Tensor square(const Operand& x) { return x * x; }
Tensor sigmoid(const Operand& x) {
    LineScope at(x.line());
    return rcp(1 + exp(-meet_as_floats({x})[0]));
}

Tensor cast(const Operand& x, DType dtype) {
    return Tensor::from_node(cast(builder_at(x), x.node(), dtype));
}
Tensor bitcast(const Operand& x, DType dtype) {
    return Tensor::from_node(bitcast(builder_at(x), x.node(), dtype));
}

Tensor pow_of(const Arg& a, const Arg& b) { return apply(Op::Pow, {a, b}); }
Tensor atan2_of(const Arg& a, const Arg& b) { return apply(Op::Atan2, {a, b}); }
Tensor min_of(const Arg& a, const Arg& b) { return apply(Op::Min, {a, b}); }
Tensor max_of(const Arg& a, const Arg& b) { return apply(Op::Max, {a, b}); }
Tensor min_of(const Arg& a, const Arg& b, const Arg& c) {
    LineScope at(a.line());
    const std::vector<Tensor> in = meet({a, b, c});
    return min(in[0], min(in[1], in[2]));
}
Tensor max_of(const Arg& a, const Arg& b, const Arg& c) {
    LineScope at(a.line());
    const std::vector<Tensor> in = meet({a, b, c});
    return max(in[0], max(in[1], in[2]));
}
Tensor min_at(const Tensor& a, const Tensor& b, SourceLine line) {
    return min_of(Arg(a, line), Arg(b, line));
}
Tensor max_at(const Tensor& a, const Tensor& b, SourceLine line) {
    return max_of(Arg(a, line), Arg(b, line));
}
Tensor clamp_at(const Tensor& x, const Tensor& low, const Tensor& high, SourceLine line) {
    return clamp_of(Arg(x, line), Arg(low, line), Arg(high, line));
}

Tensor clamp_of(const Arg& x, const Arg& low, const Arg& high) {
    LineScope at(x.line());
    const std::vector<Tensor> in = meet({x, low, high});
    return min(max(in[0], in[1]), in[2]);
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
    if (x.is_scalar() || !x.node()->dtype.is_float()) return kept;
    return select(is_nan(in[0]), in[0], kept);
}

Tensor hypot_of(const Arg& x, const Arg& y) {
    LineScope at(x.line());
    const std::vector<Tensor> in = meet_as_floats({x, y});
    const Tensor &a = in[0], &b = in[1];
    Tensor large = max(abs(a), abs(b)), ratio = min(abs(a), abs(b)) / large;
    Tensor length = select(large == 0, 0, large * sqrt(1 + ratio * ratio));
    length = select(is_nan(a) | is_nan(b), a + b, length);
    return select(is_inf(large), large, length);
}

/// Of floats, the remainder of the sizes with the sign of a, which a 0 keeps too; integers have it
/// as %.
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
        // As numpy: what the remainder leaves is a multiple of y but for rounding. By 0 the
        // quotient itself; a quotient of 0 keeps its sign.
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
    const Tensor &x = in[0], &y = in[1];
    Tensor large = max(x, y);
    // Equal operands come first: the difference of two infinities is nan.
    Tensor grown = log1p(exp(-abs(x - y)));
    return select(x == y, x + std::log(2.0), large + grown);
}

}  // namespace firn
