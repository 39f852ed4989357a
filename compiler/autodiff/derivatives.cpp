// The partial derivatives of elementwise operations.
#include "compiler/autodiff/derivatives.h"

#include <algorithm>
#include <iterator>

#include "compiler/ir/pattern.h"

namespace firn {
namespace {

struct Row {
    Op op;
    const char* by_a;
    const char* by_b = nullptr;
};

// Literals: ln 2, 1 / ln 2, 2 / sqrt(pi).
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
    {Op::Expm1, "Add(y, 1)"},
    {Op::Log,   "Rcp(a)"},
    {Op::Log2,  "Div(1.4426950408889634, a)"},
    {Op::Log1p, "Rcp(Add(a, 1))"},
    {Op::Sqrt,  "Select(Equal(y, 0), 0, Div(0.5, y))"},
    {Op::Rsqrt, "Mul(-0.5, Mul(y, Mul(y, y)))"},
    {Op::Rcp,   "Neg(Mul(y, y))"},
    {Op::Sin,   "Cos(a)"},
    {Op::Cos,   "Neg(Sin(a))"},
    {Op::Tan,   "Add(1, Mul(y, y))"},
    {Op::Asin,  "Rsqrt(Sub(1, Mul(a, a)))"},
    {Op::Acos,  "Neg(Rsqrt(Sub(1, Mul(a, a))))"},
    {Op::Atan,  "Rcp(Add(1, Mul(a, a)))"},
    {Op::Sinh,  "Cosh(a)"},
    {Op::Cosh,  "Sinh(a)"},
    {Op::Tanh,  "Sub(1, Mul(y, y))"},
    {Op::Erf,   "Mul(1.1283791670955126, Exp(Neg(Mul(a, a))))"},
    {Op::Add,   "1", "1"},
    {Op::Sub,   "1", "-1"},
    {Op::Mul,   "b", "a"},
    {Op::Div,   "Rcp(b)", "Neg(Div(y, b))"},
    // The quotient, rounded down, is what the remainder took off; by an infinite b one or none.
    {Op::Mod,   "1", "Select(IsInf(y), 1, Round(Div(Sub(y, a), b)))"},
    {Op::Pow,   "Select(Equal(b, 0), 0, Mul(b, Pow(a, Sub(b, 1))))",
                "Select(Equal(a, 0), 0, Mul(y, Log(a)))"},
    {Op::Atan2, "Select(Equal(Add(Mul(a, a), Mul(b, b)), 0), 0, Div(b, Add(Mul(a, a), Mul(b, b))))",
                "Select(Equal(Add(Mul(a, a), Mul(b, b)), 0), 0, Neg(Div(a, Add(Mul(a, a), Mul(b, b)))))"},
};
// clang-format on

}  // namespace

std::optional<std::string_view> partial_derivative(Op op, int k) {
    const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const Row& each) { return each.op == op; });
    if (row == std::end(kRows)) return std::nullopt;
    return std::string_view(k == 0 ? row->by_a : row->by_b);
}

Ref partial_derivative(const Builder& b, const Ref& node, int k) {
    // A half has no room for what a remainder took off.
    const DType type = node->op == Op::Mod && node->dtype.is_half() ? f32 : node->dtype;
    Bindings bound;
    bound['y' - 'a'] = cast(b, node, type);
    for (size_t i = 0; i < node->inputs.size(); ++i)
        bound[i] = type == node->dtype ? node->inputs[i] : cast(b, node->inputs[i], type);
    const auto make = [&](Op op, const std::vector<Ref>& inputs, const std::vector<bool>& weak) {
        return elementwise(b, op, inputs, weak);
    };
    const auto literal = [&](double value) { return constant(b, scalar_float(value, type)); };
    const Ref out = build(parse_pattern(*partial_derivative(node->op, k)), bound, make, literal);
    return cast(b, out, node->dtype);
}

}  // namespace firn
