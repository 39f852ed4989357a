// Elementwise functions as rows of the operation table, and those composed of them.
#include "compiler/frontend/math.h"

#include <cmath>

#include "compiler/frontend/apply.h"
#include "compiler/frontend/line_scope.h"
#include "compiler/frontend/record.h"

namespace firn {

Tensor abs(const Operand& x) { return apply(Op::Abs, {x}); }
Tensor sign(const Operand& x) { return apply(Op::Sign, {x}); }
Tensor floor(const Operand& x) { return apply(Op::Floor, {x}); }
Tensor ceil(const Operand& x) { return apply(Op::Ceil, {x}); }
Tensor round(const Operand& x) { return apply(Op::Round, {x}); }
Tensor trunc(const Operand& x) { return apply(Op::Trunc, {x}); }
Tensor frac(const Operand& x) { return apply(Op::Frac, {x}); }
Tensor exp(const Operand& x) { return apply(Op::Exp, {x}); }
Tensor exp2(const Operand& x) { return apply(Op::Exp2, {x}); }
Tensor expm1(const Operand& x) { return apply(Op::Expm1, {x}); }
Tensor log(const Operand& x) { return apply(Op::Log, {x}); }
Tensor log2(const Operand& x) { return apply(Op::Log2, {x}); }
Tensor log1p(const Operand& x) { return apply(Op::Log1p, {x}); }
Tensor sqrt(const Operand& x) { return apply(Op::Sqrt, {x}); }
Tensor rsqrt(const Operand& x) { return apply(Op::Rsqrt, {x}); }
Tensor rcp(const Operand& x) { return apply(Op::Rcp, {x}); }
Tensor sin(const Operand& x) { return apply(Op::Sin, {x}); }
Tensor cos(const Operand& x) { return apply(Op::Cos, {x}); }
Tensor tan(const Operand& x) { return apply(Op::Tan, {x}); }
Tensor asin(const Operand& x) { return apply(Op::Asin, {x}); }
Tensor acos(const Operand& x) { return apply(Op::Acos, {x}); }
Tensor atan(const Operand& x) { return apply(Op::Atan, {x}); }
Tensor sinh(const Operand& x) { return apply(Op::Sinh, {x}); }
Tensor cosh(const Operand& x) { return apply(Op::Cosh, {x}); }
Tensor tanh(const Operand& x) { return apply(Op::Tanh, {x}); }
Tensor erf(const Operand& x) { return apply(Op::Erf, {x}); }
Tensor is_nan(const Operand& x) { return apply(Op::IsNan, {x}); }
Tensor is_inf(const Operand& x) { return apply(Op::IsInf, {x}); }
Tensor reverse_bits(const Operand& x) { return apply(Op::ReverseBits, {x}); }
Tensor square(const Operand& x) { return x * x; }
Tensor sigmoid(const Operand& x) {
    Tensor grown = apply(Op::Exp, {Arg(apply(Op::Neg, {x}), x.line())});
    return apply(Op::Rcp, {Arg(Arg(1.0f, x.line()) + Arg(grown, x.line()), x.line())});
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

Tensor select_of(const Arg& condition, const Arg& a, const Arg& b) {
    DType type = condition.node()->dtype;
    if (!type.is_bool())
        fail_at(condition.line(), std::string("select: the condition is ") + type.name() +
                                      "; it must be a bool: compare it, as in x != 0");
    return apply(Op::Select, {condition, a, b});
}

Tensor mix_of(const Arg& a, const Arg& b, const Arg& t) {
    SourceLine line = t.line();
    Tensor way = b - a;
    return a + Arg(Arg(way, line) * t, line);
}

Tensor fma_of(const Arg& a, const Arg& b, const Arg& c) { return Arg(a * b, c.line()) + c; }

Tensor step_of(const Arg& edge, const Arg& x) {
    return select_of(Arg(x < edge, x.line()), Arg(0.0f, x.line()), Arg(1.0f, x.line()));
}

Tensor smoothstep_of(const Arg& low, const Arg& high, const Arg& x) {
    SourceLine line = x.line();
    Tensor from_low = x - low, width = high - low;
    Tensor ratio = apply(
        Op::Div, {Arg(from_low.as(join(from_low.dtype(line), f32), line), line), Arg(width, line)});
    Tensor t = min_of(Arg(max_of(Arg(ratio, line), Arg(0.0f, line)), line), Arg(1.0f, line));
    Tensor slope = Arg(3.0f, line) - Arg(Arg(2.0f, line) * Arg(t, line), line);
    return Arg(Arg(t, line) * Arg(t, line), line) * Arg(slope, line);
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
    Tensor kept = min_of(max_of(x, low), high);
    if (x.is_scalar() || !x.node()->dtype.is_float()) return kept;
    return select(is_nan(x.tensor()), x.tensor(), kept);
}

namespace {

/// Both operands in the type that they meet in.
std::pair<Tensor, Tensor> meet(const Arg& a, const Arg& b) {
    Tensor sum = a + b;  // only its type counts
    DType type = sum.dtype();
    return {a.tensor().as(type), b.tensor().as(type)};
}

}  // namespace

Tensor hypot_of(const Arg& x, const Arg& y) {
    LineScope at(x.line());
    auto [a, b] = meet(x * 1.0f, y);
    Tensor large = max(abs(a), abs(b)), ratio = min(abs(a), abs(b)) / large;
    Tensor length = select(large == 0, 0, large * sqrt(1 + ratio * ratio));
    length = select(is_nan(a) | is_nan(b), a + b, length);
    return select(is_inf(large), large, length);
}

Tensor floor_div_of(const Arg& a, const Arg& b) {
    LineScope at(a.line());
    auto [x, y] = meet(a, b);
    if (x.dtype().is_float()) return floor(x / y);
    Tensor quotient = x / y;
    if (!x.dtype().is_signed()) return quotient;
    Tensor rest = x % y;
    return select((rest != 0) & ((rest ^ y) < 0), quotient - 1, quotient);
}

Tensor remainder_of(const Arg& a, const Arg& b) {
    LineScope at(a.line());
    auto [x, y] = meet(a, b);
    Tensor rest = x % y;
    if (x.dtype().is_float() || !x.dtype().is_signed()) return rest;
    return select((rest != 0) & ((rest ^ y) < 0), rest + y, rest);
}

Tensor logaddexp_of(const Arg& a, const Arg& b) {
    LineScope at(a.line());
    auto [x, y] = meet(a * 1.0f, b);
    Tensor large = max(x, y);
    // Equal operands come first: the difference of two infinities is nan.
    Tensor grown = log1p(exp(-abs(x - y)));
    return select(x == y, x + std::log(2.0), large + grown);
}

}  // namespace firn
