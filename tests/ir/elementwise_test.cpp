// Every elementwise row of ops.def, for every type it takes, on ugly values, against independent
// references.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/base/error.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/evaluate.h"
#include "compiler/ir/interpret.h"
#include "tests/ir/exact_floats.h"

namespace firn {
namespace {

using Wide = __int128;

std::vector<Scalar> ugly_values(DType dtype) {
    std::vector<Scalar> out;
    if (dtype.is_float()) {
        constexpr double kInf = std::numeric_limits<double>::infinity();
        for (double v : {0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -7.0, 1e-3, 100.0,
                         6e4, -6e4, kInf, -kInf, std::nan("")})
            out.push_back(scalar_float(v, dtype));
        if (dtype == f32)
            for (float v : {3.4028235e38f, 1.17549435e-38f, 1e-45f, 16777215.0f, 0.1f, -1.0f / 3})
                out.push_back(scalar_float(v, dtype));
        if (dtype == f64)
            for (double v : {1.7976931348623157e308, 2.2250738585072014e-308, 5e-324,
                             9007199254740991.0, 0.1, -1.0 / 3})
                out.push_back(scalar_float(v, dtype));
        if (dtype == bf16)
            for (double v :
                 {3.3895313892515355e38, 1.17549435e-38, 255.0, 0.10009765625, -0.333984375})
                out.push_back(scalar_float(v, dtype));
        if (dtype == f16)
            for (double v : {65504.0, 6.103515625e-05, 5.9604644775390625e-08, 2047.0,
                             0.0999755859375, -0.333251953125})
                out.push_back(scalar_float(v, dtype));
        return out;
    }
    if (dtype.is_bool()) return {scalar_bool(false), scalar_bool(true)};
    int bits = 8 * dtype.bytes();
    int64_t low = INT64_MIN >> (64 - bits);
    for (int64_t v : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{3}, int64_t{-7},
                      int64_t{31}, int64_t{33}, int64_t{100}, low, low + 1, -(low + 1)})
        out.push_back(scalar_int(v, dtype));
    return out;
}

Wide wide(const Scalar& x) { return x.dtype == u64 ? Wide(static_cast<uint64_t>(x.i)) : Wide(x.i); }
Wide lowest(DType d) { return d.is_signed() ? -(Wide(1) << (8 * d.bytes() - 1)) : 0; }

/// An exact integer reduced to the range of the type, as hardware wraps.
Scalar wrap(Wide exact, DType dtype) {
    if (dtype.is_bool()) return scalar_bool(exact & 1);
    Wide modulus = Wide(1) << (8 * dtype.bytes());
    Wide in_range = ((exact - lowest(dtype)) % modulus + modulus) % modulus + lowest(dtype);
    return {dtype, 0, static_cast<int64_t>(in_range)};
}

/// The same value modulo 2^64, small enough that a product of two stays exact.
Wide folded(Wide x) { return wide(wrap(x, i64)); }

Wide power(Wide base, Wide exponent) {
    if (exponent < 0) {
        if (base == 1) return 1;
        if (base == -1) return exponent % 2 == 0 ? 1 : -1;
        return 0;
    }
    if (exponent == 0) return 1;
    Wide half = power(base, exponent / 2), square = folded(half * half);
    return exponent % 2 ? folded(square * folded(base)) : square;
}

Scalar integer_reference(Op op, DType dtype, const std::vector<Scalar>& in) {
    Wide x = wide(in[0]), y = in.size() > 1 ? wide(in[1]) : 0;
    int width = 8 * dtype.bytes(), count = static_cast<int>(y & (width - 1));
    switch (op) {
        case Op::Neg: return wrap(-x, dtype);
        case Op::Abs: return wrap(x < 0 ? -x : x, dtype);
        case Op::Sign: return wrap((x > 0) - (x < 0), dtype);
        case Op::BitNot: return wrap(-x - 1, dtype);
        case Op::ReverseBits: {
            Wide out = 0;
            for (int k = 0; k < width; ++k)
                if ((x >> k) & 1) out += Wide(1) << (width - 1 - k);
            return wrap(out, dtype);
        }
        case Op::Add: return wrap(x + y, dtype);
        case Op::Sub: return wrap(x - y, dtype);
        case Op::Mul: return wrap(folded(x) * folded(y), dtype);
        case Op::Div: return wrap(y == 0 ? Wide(0) : x / y, dtype);
        case Op::Mod: return wrap(y == 0 ? Wide(0) : x % y, dtype);
        case Op::Pow: return wrap(power(x, y), dtype);
        case Op::Min: return wrap(x < y ? x : y, dtype);
        case Op::Max: return wrap(x > y ? x : y, dtype);
        case Op::And: return wrap(x & y, dtype);
        case Op::Or: return wrap(x | y, dtype);
        case Op::Xor: return wrap(x ^ y, dtype);
        case Op::ShiftLeft: return wrap(folded(x) << count, dtype);
        case Op::ShiftRight: return wrap(x >> count, dtype);
        case Op::Less: return scalar_bool(x < y);
        case Op::LessEqual: return scalar_bool(x <= y);
        case Op::Equal: return scalar_bool(x == y);
        case Op::NotEqual: return scalar_bool(x != y);
        case Op::Not: return scalar_bool(x == 0);
        default: ADD_FAILURE() << "no reference for " << info(op).name; return {};
    }
}

Scalar float_reference(Op op, DType dtype, const std::vector<Scalar>& in) {
    double x = in[0].f, y = in.size() > 1 ? in[1].f : 0;
    bool either_nan = std::isnan(x) || std::isnan(y);
    switch (op) {
        case Op::Sign: return scalar_float(std::isnan(x) ? x : (x > 0) - (x < 0), dtype);
        case Op::Min:
            return scalar_float(either_nan ? (std::isnan(x) ? y : x)
                                           : (y < x || (x == y && std::signbit(y)) ? y : x),
                                dtype);
        case Op::Max:
            return scalar_float(either_nan ? (std::isnan(x) ? y : x)
                                           : (y > x || (x == y && std::signbit(x)) ? y : x),
                                dtype);
        case Op::IsNan: return scalar_bool(std::isnan(x));
        case Op::IsInf: return scalar_bool(std::isinf(x));
        case Op::Less: return scalar_bool(x < y);
        case Op::LessEqual: return scalar_bool(x <= y);
        case Op::Equal: return scalar_bool(x == y);
        case Op::NotEqual: return scalar_bool(x != y);
        default: break;
    }
    return {dtype, exact::value_of(op, x, y, dtype), 0};
}

/// Exact but for transcendental functions, which are a few ulps off.
bool agree(Op op, const Scalar& got, const Scalar& expected) {
    if (got.dtype != expected.dtype) return false;
    if (!got.dtype.is_float()) return got.i == expected.i;
    if (std::isnan(expected.f)) return std::isnan(got.f);
    double relative = got.dtype == f64    ? 1e-15
                      : got.dtype == bf16 ? 8e-3
                      : got.dtype == f16  ? 1e-3
                                          : 5e-7;
    bool exact = !(info(op).properties & kCostly) && op != Op::Rsqrt;
    if (exact || std::isinf(expected.f) || expected.f == 0)
        return got.f == expected.f && std::signbit(got.f) == std::signbit(expected.f);
    return std::fabs(got.f - expected.f) <= relative * std::fabs(expected.f) + 1e-38;
}

/// The type the operands are computed in, by the rules stated in ops.def and builder.h.
DType operand_type(Op op, DType dtype) {
    if (op == Op::Not) return boolean;
    bool takes_bool =
        op == Op::And || op == Op::Or || op == Op::Xor || op == Op::Equal || op == Op::NotEqual;
    bool float_only = info(op).result == ResultRule::Float || op == Op::IsNan || op == Op::IsInf;
    if (float_only && !dtype.is_float()) return f32;
    if (dtype.is_bool()) return takes_bool ? boolean : i32;
    return dtype == i8 || dtype == u8 || dtype == i16 || dtype == u16 ? i32 : dtype;
}

HostTensor column(const std::vector<Scalar>& values, DType dtype) {
    HostTensor out = HostTensor::make(dtype, {static_cast<int64_t>(values.size())});
    for (size_t k = 0; k < values.size(); ++k) out.set(static_cast<int64_t>(k), values[k]);
    return out;
}

struct Row {
    Op op;
    DType dtype;
};
std::vector<Row> rows() {
    std::vector<Row> out;
    for (int k = 0; k < kOpCount; ++k) {
        Op op = static_cast<Op>(k);
        if (!is_elementwise(op) || op == Op::Cast || op == Op::Bitcast || op == Op::Select)
            continue;
        for (DType dtype : kAllTypes) {
            bool bitwise = info(op).result == ResultRule::Int;
            if (bitwise && dtype.is_float()) continue;
            if (op == Op::BitNot && dtype.is_bool()) continue;  // becomes Not: see builder_test
            out.push_back({op, dtype});
        }
    }
    return out;
}

class EveryRow : public testing::TestWithParam<Row> {};

TEST_P(EveryRow, AgreesWithItsReferenceOnUglyValues) {
    auto [op, dtype] = GetParam();
    std::vector<Scalar> values = ugly_values(dtype), first, second;
    for (const Scalar& x : values)
        for (const Scalar& y : values) {
            first.push_back(x);
            second.push_back(y);
        }
    NodeTable table;
    Builder b{table};
    Shape shape = {Size(first.size())};
    std::vector<Ref> inputs = {input(b, 0, dtype, shape, false), input(b, 1, dtype, shape, false)};
    std::vector<Ref> used(inputs.begin(), inputs.begin() + info(op).arity);
    Graph graph{inputs, {elementwise(b, op, used)}, {}};
    HostTensor out = interpret(graph, {column(first, dtype), column(second, dtype)}, {})[0];

    DType operand = operand_type(op, dtype),
          result = info(op).result == ResultRule::Bool ? boolean : operand;
    ASSERT_EQ(out.dtype, result);
    for (size_t k = 0; k < first.size(); ++k) {
        std::vector<Scalar> in = {first[k].to(operand), second[k].to(operand)};
        in.resize(static_cast<size_t>(info(op).arity));
        Scalar expected = operand.is_float() ? float_reference(op, operand, in)
                                             : integer_reference(op, operand, in);
        Scalar got = out.at(static_cast<int64_t>(k));
        ASSERT_TRUE(agree(op, got, expected))
            << info(op).name << " of " << text(first[k]) << ", " << text(second[k]) << " is "
            << text(got) << ", expected " << text(expected);
        // The typed loops of the interpreter and the scalar rules must be one meaning.
        Scalar scalar = evaluate(op, result, in);
        ASSERT_TRUE(scalar == got || (std::isnan(scalar.f) && std::isnan(got.f)))
            << info(op).name << " of " << text(first[k]) << ", " << text(second[k]);
    }
}

std::string row_name(const testing::TestParamInfo<Row>& test) {
    return std::string(info(test.param.op).name) + "_" + test.param.dtype.name();
}
INSTANTIATE_TEST_SUITE_P(Ops, EveryRow, testing::ValuesIn(rows()), row_name);

struct Fact {
    Op op;
    DType dtype;
    std::vector<double> inputs;
    double expected;
};
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

/// Worked out by hand.
// clang-format off
const Fact kFacts[] = {
    {Op::Round, f32, {0.5}, 0}, {Op::Round, f32, {1.5}, 2}, {Op::Round, f32, {-2.5}, -2},
    {Op::Mod, f32, {-1, 3}, 2}, {Op::Mod, f32, {1, -3}, -2}, {Op::Mod, f32, {-1e-30, 0x1p127}, 0x1p127},
    {Op::Mod, f32, {-2, kInf}, kInf}, {Op::Mod, f32, {2, kInf}, 2}, {Op::Mod, f32, {-0.0, 2}, 0.0},
    {Op::Mod, f32, {1e8, 3}, 1}, {Op::Mod, f64, {1, 0.1}, 0.09999999999999995}, {Op::Mod, f64, {1, 5e-324}, 0},
    {Op::Mod, f64, {5, kInf}, 5}, {Op::Mod, f64, {-5, kInf}, kInf}, {Op::Mod, f64, {5, -kInf}, -kInf},
    {Op::Mod, i32, {-7, 3}, -1},
    {Op::Mod, i32, {7, -3}, 1}, {Op::Mod, i32, {5, 0}, 0}, {Op::Div, i32, {-7, 2}, -3},
    {Op::Div, i32, {7, 0}, 0}, {Op::Div, i32, {-2147483648.0, -1}, -2147483648.0},
    {Op::Mod, i32, {-2147483648.0, -1}, 0}, {Op::Div, u32, {4294967295.0, 2}, 2147483647.0},
    {Op::Abs, i32, {-2147483648.0}, -2147483648.0}, {Op::Add, i32, {2147483647.0, 1}, -2147483648.0},
    {Op::Add, u32, {4294967295.0, 1}, 0}, {Op::Neg, u32, {1}, 4294967295.0},
    {Op::ShiftLeft, i32, {1, 33}, 2}, {Op::ShiftRight, i32, {-8, 1}, -4},
    {Op::ShiftRight, u32, {4294967288.0, 1}, 2147483644.0}, {Op::ShiftLeft, i32, {1, 31}, -2147483648.0},
    {Op::Pow, i32, {3, 5}, 243}, {Op::Pow, i32, {2, -1}, 0}, {Op::Pow, i32, {-1, -3}, -1},
    {Op::Pow, i32, {0, 0}, 1}, {Op::Pow, i32, {-2, 31}, -2147483648.0}, {Op::Pow, f32, {0, 0}, 1},
    {Op::Min, f32, {kNan, 1}, 1}, {Op::Max, f32, {1, kNan}, 1}, {Op::Min, f32, {kInf, kNan}, kInf},
    {Op::Max, f32, {-0.0, 0.0}, 0.0}, {Op::Min, f32, {0.0, -0.0}, -0.0},
    {Op::Sign, f32, {-0.5}, -1}, {Op::Equal, f32, {kNan, kNan}, 0}, {Op::NotEqual, f32, {kNan, kNan}, 1},
    {Op::LessEqual, f32, {kNan, 1}, 0}, {Op::Equal, f32, {0.0, -0.0}, 1}, {Op::Frac, f32, {-0.25}, 0.75},
    {Op::ReverseBits, u32, {1}, 2147483648.0}, {Op::BitNot, i32, {0}, -1}, {Op::Less, u32, {1, 4294967295.0}, 1},
    {Op::Add, f16, {65504, 65504}, kInf}, {Op::Add, f16, {2048, 1}, 2048}, {Op::Add, f32, {16777216, 1}, 16777216},
    {Op::Erf, f32, {kInf}, 1}, {Op::Atan2, f32, {0, -1}, 3.14159274101257324}, {Op::Rcp, f32, {-0.0}, -kInf},
    {Op::Select, f32, {1, 2, 3}, 2}, {Op::Select, f32, {0, 2, 3}, 3},
};
// clang-format on

TEST(Evaluate, FactsWorkedOutByHand) {
    for (const Fact& fact : kFacts) {
        std::vector<Scalar> in;
        for (size_t k = 0; k < fact.inputs.size(); ++k) {
            bool condition = fact.op == Op::Select && k == 0;
            in.push_back(scalar_float(fact.inputs[k], f64).to(condition ? boolean : fact.dtype));
        }
        DType result = info(fact.op).result == ResultRule::Bool ? boolean : fact.dtype;
        EXPECT_EQ(evaluate(fact.op, result, in).as_double(), fact.expected)
            << info(fact.op).name << " " << fact.inputs[0];
    }
}

TEST(Evaluate, CastsBetweenAllTypesFollowScalarTo) {
    for (DType from : kAllTypes)
        for (DType to : kAllTypes)
            for (const Scalar& x : ugly_values(from)) {
                NodeTable table;
                Builder b{table};
                Ref arg = input(b, 0, from, {1}, false);
                HostTensor out =
                    interpret({{arg}, {cast(b, arg, to)}, {}}, {column({x}, from)}, {})[0];
                HostTensor expected = column({x.to(to)}, to);
                EXPECT_EQ(out.data, expected.data)
                    << text(x) << " from " << from.name() << " to " << to.name();
            }
}

TEST(Evaluate, BitcastsKeepTheBits) {
    Scalar one = scalar_float(1.0f);
    EXPECT_EQ(evaluate(Op::Bitcast, i32, {&one, 1}).i, 0x3f800000);
    Scalar bits = scalar_int(0xc0, u8);
    EXPECT_EQ(evaluate(Op::Bitcast, i8, {&bits, 1}).i, -64);
    Scalar short_bits = scalar_int(0x3f80, u16);
    EXPECT_EQ(evaluate(Op::Bitcast, bf16, {&short_bits, 1}).f, 1.0);
    EXPECT_EQ(evaluate(Op::Bitcast, f16, {&short_bits, 1}).f, 1.875);
    Scalar half = scalar_int(1, i64);
    EXPECT_EQ(evaluate(Op::Bitcast, f64, {&half, 1}).f, std::numeric_limits<double>::denorm_min());
}

TEST(Evaluate, SelectKeepsEveryType) {
    for (DType dtype : kAllTypes)
        for (const Scalar& x : ugly_values(dtype)) {
            Scalar in[] = {scalar_bool(true), x, scalar_int(1).to(dtype)};
            EXPECT_EQ(evaluate(Op::Select, dtype, in), x);
        }
}

TEST(Evaluate, AnOperationOnTensorsIsAnInternalError) {
    Scalar x = scalar_float(1);
    EXPECT_THROW(evaluate(Op::Reshape, f32, {&x, 1}), InternalError);
}

TEST(BoundedIndex, EveryMode) {
    struct Case {
        Bounds mode;
        int64_t i, expected;
    };
    for (auto [mode, i, expected] : std::initializer_list<Case>{
             {Bounds::Clamp, -2, 0},    {Bounds::Clamp, 5, 4},    {Bounds::Clamp, 3, 3},
             {Bounds::Wrap, -1, 4},     {Bounds::Wrap, 5, 0},     {Bounds::Wrap, -6, 4},
             {Bounds::Wrap, 12, 2},     {Bounds::Mirror, -1, 0},  {Bounds::Mirror, -5, 4},
             {Bounds::Mirror, -6, 4},   {Bounds::Mirror, 5, 4},   {Bounds::Mirror, 9, 0},
             {Bounds::Mirror, 10, 0},   {Bounds::Mirror, 11, 1},  {Bounds::Reflect, -1, 1},
             {Bounds::Reflect, -4, 4},  {Bounds::Reflect, -5, 3}, {Bounds::Reflect, 5, 3},
             {Bounds::Reflect, 8, 0},   {Bounds::Reflect, 9, 1},  {Bounds::Constant, -1, -1},
             {Bounds::Constant, 5, -1}, {Bounds::Constant, 4, 4}, {Bounds::Unchecked, 2, 2}})
        EXPECT_EQ(bounded_index(mode, i, 5), expected) << static_cast<int>(mode) << " " << i;
}

TEST(BoundedIndex, AnEmptyAxisHasNoIndex) {
    for (Bounds mode :
         {Bounds::Clamp, Bounds::Wrap, Bounds::Mirror, Bounds::Reflect, Bounds::Constant})
        EXPECT_EQ(bounded_index(mode, 0, 0), -1);
}

}  // namespace
}  // namespace firn
