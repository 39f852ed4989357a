// Laws of arithmetic and logic that hold for every value, one row each.
#include "compiler/passes/rules.h"

namespace firn {
namespace {

constexpr RuleTypes Any = RuleTypes::Any, Signed = RuleTypes::Signed, Integer = RuleTypes::Integer,
                    Float = RuleTypes::Float, Bool = RuleTypes::Bool,
                    IntegerOrBool = RuleTypes::IntegerOrBool;

// clang-format off
constexpr AlgebraRow kAlgebraRows[] = {
    // x + 0 of floats is not x: -0 + 0 is 0.
    {"x + 0",              Integer, "Add(x, 0)",             "x"},
    {"x + -0",             Float,   "Add(x, -0.0)",          "x"},
    {"x - 0",              Any,     "Sub(x, 0)",             "x"},
    {"x - x",              Integer, "Sub(x, x)",             "0"},
    {"0 - x",              Integer, "Sub(0, x)",             "Neg(x)"},
    {"x + -y",             Any,     "Add(x, Neg(y))",        "Sub(x, y)"},
    {"x - -y",             Any,     "Sub(x, Neg(y))",        "Add(x, y)"},
    {"x + c + d",          Integer, "Add(Add(x, c), d)",     "Add(x, Add(c, d))"},
    {"x - c + d",          Integer, "Add(Sub(x, c), d)",     "Add(x, Sub(d, c))"},
    {"x + c - d",          Integer, "Sub(Add(x, c), d)",     "Add(x, Sub(c, d))"},
    {"x - c - d",          Integer, "Sub(Sub(x, c), d)",     "Sub(x, Add(c, d))"},
    {"--x",                Any,     "Neg(Neg(x))",           "x"},
    {"x * 1",              Any,     "Mul(x, 1)",             "x"},
    {"x * 0",              Integer, "Mul(x, 0)",             "0"},
    {"x * -1",             Any,     "Mul(x, -1)",            "Neg(x)"},
    {"-x * -y",            Any,     "Mul(Neg(x), Neg(y))",   "Mul(x, y)"},
    {"x * c * d",          Integer, "Mul(Mul(x, c), d)",     "Mul(x, Mul(c, d))"},
    {"x / 1",              Any,     "Div(x, 1)",             "x"},
    {"1 / x",              Float,   "Div(1, x)",             "Rcp(x)"},
    {"x % 1",              Integer, "Mod(x, 1)",             "0"},
    {"x^0",                Any,     "Pow(x, 0)",             "1"},
    {"x^1",                Any,     "Pow(x, 1)",             "x"},
    {"x^2",                Any,     "Pow(x, 2)",             "Mul(x, x)"},
    {"x^3",                Any,     "Pow(x, 3)",             "Mul(Mul(x, x), x)"},
    {"x^4",                Any,     "Pow(x, 4)",             "Mul(Mul(x, x), Mul(x, x))"},
    {"x^-1",               Float,   "Pow(x, -1)",            "Rcp(x)"},
    // The root of -0 is -0 and of -inf nan; the powers are 0 and inf.
    {"x^0.5",              Float,   "Pow(x, 0.5)",           "Select(Equal(x, -inf), inf, Sqrt(Add(x, 0)))"},
    {"||x||",              Any,     "Abs(Abs(x))",           "Abs(x)"},
    {"|-x|",               Signed,  "Abs(Neg(x))",           "Abs(x)"},
    {"|x| |x|",            Any,     "Mul(Abs(x), Abs(x))",   "Mul(x, x)"},
    {"floor of floor",     Float,   "Floor(Floor(x))",       "Floor(x)"},
    {"ceil of ceil",       Float,   "Ceil(Ceil(x))",         "Ceil(x)"},
    {"round of round",     Float,   "Round(Round(x))",       "Round(x)"},
    {"trunc of trunc",     Float,   "Trunc(Trunc(x))",       "Trunc(x)"},
    {"min(x, x)",          Any,     "Min(x, x)",             "x"},
    {"max(x, x)",          Any,     "Max(x, x)",             "x"},
    {"min(min(x, y), y)",  Integer, "Min(Min(x, y), y)",     "Min(x, y)"},
    {"max(max(x, y), y)",  Integer, "Max(Max(x, y), y)",     "Max(x, y)"},
    {"min(min(x, c), d)",  Integer, "Min(Min(x, c), d)",     "Min(x, Min(c, d))"},
    {"max(max(x, c), d)",  Integer, "Max(Max(x, c), d)",     "Max(x, Max(c, d))"},

    {"!!x",                Bool,    "Not(Not(x))",           "x"},
    {"~~x",                Integer, "BitNot(BitNot(x))",     "x"},
    {"!(x == y)",          Any,     "Not(Equal(x, y))",      "NotEqual(x, y)"},
    {"!(x != y)",          Any,     "Not(NotEqual(x, y))",   "Equal(x, y)"},
    {"x < x",              Any,     "Less(x, x)",            "false"},
    {"x <= x",             Integer, "LessEqual(x, x)",       "true"},
    {"x == x",             IntegerOrBool, "Equal(x, x)",     "true"},
    {"x != x",             IntegerOrBool, "NotEqual(x, x)",  "false"},
    {"x & x",              IntegerOrBool, "And(x, x)",       "x"},
    {"x | x",              IntegerOrBool, "Or(x, x)",        "x"},
    {"x ^ x",              IntegerOrBool, "Xor(x, x)",       "0"},
    {"x & 0",              IntegerOrBool, "And(x, 0)",       "0"},
    {"x | 0",              IntegerOrBool, "Or(x, 0)",        "x"},
    {"x ^ 0",              IntegerOrBool, "Xor(x, 0)",       "x"},
    {"x & all ones",       Integer, "And(x, -1)",            "x"},
    {"x | all ones",       Integer, "Or(x, -1)",             "-1"},
    {"x & true",           Bool,    "And(x, true)",          "x"},
    {"x | true",           Bool,    "Or(x, true)",           "true"},
    {"x ^ true",           Bool,    "Xor(x, true)",          "Not(x)"},
    {"shift left by 0",    Integer, "ShiftLeft(x, 0)",       "x"},
    {"shift right by 0",   Integer, "ShiftRight(x, 0)",      "x"},

    {"true ? x : y",       Any,     "Select(true, x, y)",    "x"},
    {"false ? x : y",      Any,     "Select(false, x, y)",   "y"},
    {"c ? x : x",          Any,     "Select(z, x, x)",       "x"},
    {"!c ? x : y",         Any,     "Select(Not(z), x, y)",  "Select(z, y, x)"},
    {"c ? true : false",   Bool,    "Select(z, true, false)", "z"},
    {"c ? false : true",   Bool,    "Select(z, false, true)", "Not(z)"},
    {"c ? (c ? x : _) : y", Any,    "Select(z, Select(z, x, w), y)", "Select(z, x, y)"},
    {"c ? x : (c ? _ : y)", Any,    "Select(z, x, Select(z, w, y))", "Select(z, x, y)"},
};
// clang-format on

}  // namespace

bool holds_for(RuleTypes types, DType dtype) {
    switch (types) {
        case RuleTypes::Any: return true;
        case RuleTypes::Signed: return dtype.is_signed();
        case RuleTypes::Integer: return dtype.is_integer();
        case RuleTypes::Float: return dtype.is_float();
        case RuleTypes::Bool: return dtype.is_bool();
        case RuleTypes::IntegerOrBool: return !dtype.is_float();
    }
    return false;
}

std::span<const AlgebraRow> algebra_rows() { return kAlgebraRows; }

}  // namespace firn
