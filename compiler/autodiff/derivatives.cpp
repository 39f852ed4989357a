// The partial derivatives of elementwise operations.
#include "compiler/autodiff/derivatives.h"

#include <algorithm>
#include <iterator>

#include "compiler/autodiff/logistic.h"
#include "compiler/ir/pattern.h"

namespace firn {
namespace {

struct Row {
    Op op;
    const char* by_a;
    const char* by_b = nullptr;
};

/// Marks a derivative that a function below builds.
constexpr const char* kByFunction = "by a function";

// Literals: ln 2, 1 / ln 2, 2 / sqrt(pi). For pow: if an exponent b is so large that b - 1 rounds
// to an even number, the power of a negative number has the other sign.
// clang-format off
constexpr Row kRows[] = {
    {Op::Neg,   "-1"},
    {Op::Abs,   "Sign(a)"},
    {Op::Sign,  "0"},
    {Op::Floor, "0"},
    {Op::Ceil,  "0"},
    {Op::Round, "0"},
    {Op::Trunc, "0"},
    {Op::Frac,  "1"},
    {Op::Exp,   "y"},
    {Op::Exp2,  "Mul(y, 0.6931471805599453)"},
    {Op::Expm1, "Exp(a)"},
    {Op::Log,   "Rcp(a)"},
    {Op::Log2,  "Div(1.4426950408889634, a)"},
    {Op::Log1p, "Rcp(Add(a, 1))"},
    {Op::Sqrt,  "Div(0.5, y)"},
    {Op::Rsqrt, "Mul(-0.5, Mul(y, Mul(y, y)))"},
    {Op::Rcp,   "Neg(Mul(y, y))"},
    {Op::Sin,   "Cos(a)"},
    {Op::Cos,   "Neg(Sin(a))"},
    {Op::Tan,   "Add(1, Mul(y, y))"},
    {Op::Asin,  "Rsqrt(Mul(Sub(1, a), Add(1, a)))"},
    {Op::Acos,  "Neg(Rsqrt(Mul(Sub(1, a), Add(1, a))))"},
    {Op::Atan,  "Rcp(Add(1, Mul(a, a)))"},
    {Op::Sinh,  "Cosh(a)"},
    {Op::Cosh,  "Sinh(a)"},
    {Op::Tanh,  kByFunction},
    {Op::Erf,   "Mul(1.1283791670955126, Exp(Neg(Mul(a, a))))"},
    {Op::Add,   "1", "1"},
    {Op::Sub,   "1", "-1"},
    {Op::Mul,   "b", "a"},
    {Op::Div,   "Rcp(b)", "Neg(Div(y, b))"},
    // The quotient, rounded down, is what the remainder took off; by an infinite b one or none.
    {Op::Mod,   "1", "Select(IsInf(y), 1, Round(Div(Sub(y, a), b)))"},
    {Op::Pow,   "Select(Equal(b, 0), 0, Mul(b, Select(And(Less(a, 0), NotEqual(Sub(b, Sub(b, 1)), 1)), "
                "Neg(Pow(a, Sub(b, 1))), Pow(a, Sub(b, 1)))))",
                "Select(And(LessEqual(0, a), Or(Equal(y, 0), And(Equal(a, 0), Equal(b, 0)))), 0, Mul(y, Log(a)))"},
    {Op::Atan2, kByFunction, kByFunction},
};
// clang-format on

Ref times(const Builder& b, const Ref& x, double factor) {
    return elementwise(b, Op::Mul, {x, constant(b, scalar_float(factor, x->dtype))});
}

/// 1 / cosh(a)^2 = 4 s(2a) s(-2a), s the logistic function: 1 - y y of y next to 1 has no digit
/// left.
Ref slope_of_tanh(const Builder& b, const Ref& a) {
    const Ref twice = times(b, a, 2), y = logistic(b, twice);
    return times(b, elementwise(b, Op::Mul, {y, logistic_complement(b, twice, y)}), 4);
}

/// The derivatives of the angle y of the point (x, a) are x / (x x + a a) by a, and -a / (x x + a
/// a) by x, with both divided by the larger one, so that no square overflows; 0 in the origin and
/// at infinity.
Ref slope_of_angle(const Builder& b, const Ref& y, const Ref& a, const Ref& x, int k) {
    const auto op = [&](Op op, const std::vector<Ref>& inputs) {
        return elementwise(b, op, inputs);
    };
    const Ref zero = constant(b, scalar_float(0, y->dtype));
    const Ref large = op(Op::Max, {op(Op::Abs, {a}), op(Op::Abs, {x})});
    const Ref u = op(Op::Div, {a, large}), v = op(Op::Div, {x, large});
    const Ref squares = op(Op::Add, {op(Op::Mul, {u, u}), op(Op::Mul, {v, v})});
    const Ref part = op(Op::Div, {op(Op::Div, {k == 0 ? v : u, squares}), large});
    // An infinite coordinate beside nan is no number, as y is.
    const Ref far = op(Op::And, {op(Op::IsInf, {large}), op(Op::Equal, {y, y})});
    return op(Op::Select, {op(Op::Or, {op(Op::Equal, {large, zero}), far}), zero,
                           k == 0 ? part : op(Op::Neg, {part})});
}

}  // namespace

std::optional<std::string_view> partial_derivative(Op op, int k) {
    const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const Row& each) { return each.op == op; });
    if (row == std::end(kRows)) return std::nullopt;
    return std::string_view(k == 0 ? row->by_a : row->by_b);
}

Ref partial_derivative(const Builder& b, const Ref& node, int k) {
    const std::string_view text = *partial_derivative(node->op, k);
    Bindings bound;
    Ref& value = bound['y' - 'a'];
    value = node;
    for (size_t i = 0; i < node->inputs.size(); ++i) bound[i] = node->inputs[i];
    // f16 and bf16 neither hold the powers on the way nor, rounded, the digits that a difference
    // leaves: the value is computed again. A single operand or value is a factor unchanged.
    if (node->dtype.is_half() && text.size() > 1) {
        std::vector<Ref> wide;
        for (size_t i = 0; i < node->inputs.size(); ++i)
            wide.push_back(bound[i] = cast(b, node->inputs[i], f32));
        value = elementwise(b, node->op, wide);
    }
    if (text == kByFunction)
        return node->op == Op::Tanh ? slope_of_tanh(b, bound[0])
                                    : slope_of_angle(b, value, bound[0], bound[1], k);
    const DType dtype = value->dtype;
    const auto make = [&](Op op, const std::vector<Ref>& inputs, const std::vector<bool>& weak) {
        return elementwise(b, op, inputs, weak);
    };
    const auto literal = [&](double value) { return constant(b, scalar_float(value, dtype)); };
    return build(parse_pattern(text), bound, make, literal);
}

}  // namespace firn
