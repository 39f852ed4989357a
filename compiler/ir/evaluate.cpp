// Computes one element of every elementwise operation, in plain host arithmetic.
#include "compiler/ir/evaluate.h"

#include <algorithm>
#include <cmath>

#include "compiler/base/error.h"
#include "compiler/ir/monoid.h"
#include "compiler/program/extremes.h"

namespace firn {
namespace {

bool is_nan(const Scalar& x) { return x.dtype.is_float() && std::isnan(x.f); }
bool truth(const Scalar& x) { return x.dtype.is_float() ? x.f != 0 : x.i != 0; }

/// Rounds an f32 intermediate; f64 keeps its own, halves are computed in f32.
double rounded(double value, DType dtype) {
    return dtype == f64 ? value : static_cast<double>(static_cast<float>(value));
}

/// -1, 0 or 1; unsigned 64-bit values are stored by their bits.
int compare_integers(const Scalar& a, const Scalar& b) {
    if (a.dtype == u64) {
        auto x = static_cast<uint64_t>(a.i), y = static_cast<uint64_t>(b.i);
        return x < y ? -1 : x > y;
    }
    return a.i < b.i ? -1 : a.i > b.i;
}

bool less(const Scalar& a, const Scalar& b) {
    return a.dtype.is_float() ? a.f < b.f : compare_integers(a, b) < 0;
}
bool equal(const Scalar& a, const Scalar& b) {
    return a.dtype.is_float() ? a.f == b.f : a.i == b.i;
}

double float_unary(Op op, double x, DType dtype) {
    switch (op) {
        case Op::Neg: return -x;
        case Op::Abs: return std::fabs(x);
        case Op::Sign: return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x;
        case Op::Floor: return std::floor(x);
        case Op::Ceil: return std::ceil(x);
        case Op::Round: return std::nearbyint(x);
        case Op::Trunc: return std::trunc(x);
        case Op::Frac: return rounded(x - std::floor(x), dtype);
        case Op::Exp: return std::exp(x);
        case Op::Exp2: return std::exp2(x);
        case Op::Expm1: return std::expm1(x);
        case Op::Log: return std::log(x);
        case Op::Log2: return std::log2(x);
        case Op::Log1p: return std::log1p(x);
        case Op::Sqrt: return std::sqrt(x);
        case Op::Rsqrt: return 1 / std::sqrt(x);
        case Op::Rcp: return 1 / x;
        case Op::Sin: return std::sin(x);
        case Op::Cos: return std::cos(x);
        case Op::Tan: return std::tan(x);
        case Op::Asin: return std::asin(x);
        case Op::Acos: return std::acos(x);
        case Op::Atan: return std::atan(x);
        case Op::Sinh: return std::sinh(x);
        case Op::Cosh: return std::cosh(x);
        case Op::Tanh: return std::tanh(x);
        case Op::Erf: return std::erf(x);
        default: throw InternalError("internal error: no float rule for this operation");
    }
}

/// The exact remainder of the truncating division, moved to the sign of y by one rounded sum:
/// numpy's remainder.
double float_mod(double x, double y) {
    const double rest = std::fmod(x, y);
    if (rest == 0) return std::copysign(0.0, y);
    return (rest < 0) != (y < 0) ? rest + y : rest;
}

double float_binary(Op op, double x, double y) {
    switch (op) {
        case Op::Add: return x + y;
        case Op::Sub: return x - y;
        case Op::Mul: return x * y;
        case Op::Div: return x / y;
        case Op::Mod: return float_mod(x, y);
        case Op::Pow: return std::pow(x, y);
        case Op::Atan2: return std::atan2(x, y);
        case Op::Min: return smaller(x, y);
        case Op::Max: return larger(x, y);
        default: throw InternalError("internal error: no float rule for this operation");
    }
}

uint64_t bits_of(const Scalar& x) { return static_cast<uint64_t>(x.i); }
int width_of(DType dtype) { return dtype.is_bool() ? 1 : 8 * dtype.bytes(); }

/// `bits` cut to the type's width and read as a value of it.
Scalar wrapped(uint64_t bits, DType dtype) {
    switch (dtype.type) {
        case Type::I16: return {dtype, 0, static_cast<int16_t>(bits)};
        case Type::U16: return {dtype, 0, static_cast<uint16_t>(bits)};
        case Type::I8: return {dtype, 0, static_cast<int8_t>(bits)};
        case Type::U8: return {dtype, 0, static_cast<uint8_t>(bits)};
        case Type::I32: return {dtype, 0, static_cast<int32_t>(bits)};
        case Type::U32: return {dtype, 0, static_cast<uint32_t>(bits)};
        case Type::Bool: return {dtype, 0, static_cast<int64_t>(bits & 1)};
        default: return {dtype, 0, static_cast<int64_t>(bits)};
    }
}

uint64_t reversed_bits(uint64_t bits, int width) {
    uint64_t out = 0;
    for (int k = 0; k < width; ++k) out |= ((bits >> k) & 1) << (width - 1 - k);
    return out;
}

Scalar integer_unary(Op op, const Scalar& x) {
    bool negative = x.dtype.is_signed() && x.i < 0;
    switch (op) {
        case Op::Neg: return wrapped(0 - bits_of(x), x.dtype);
        case Op::Abs: return wrapped(negative ? 0 - bits_of(x) : bits_of(x), x.dtype);
        case Op::Sign: return wrapped(negative ? ~uint64_t{0} : x.i != 0, x.dtype);
        case Op::BitNot: return wrapped(~bits_of(x), x.dtype);
        case Op::ReverseBits: return wrapped(reversed_bits(bits_of(x), width_of(x.dtype)), x.dtype);
        default: throw InternalError("internal error: no integer rule for this operation");
    }
}

/// Truncates towards zero; x / 0 is 0, x % 0 is 0, and the one quotient that overflows wraps.
uint64_t integer_quotient(Op op, const Scalar& a, const Scalar& b) {
    if (b.i == 0) return 0;
    if (a.dtype == u64) return op == Op::Div ? bits_of(a) / bits_of(b) : bits_of(a) % bits_of(b);
    if (b.i == -1) return op == Op::Div ? 0 - bits_of(a) : 0;
    return static_cast<uint64_t>(op == Op::Div ? a.i / b.i : a.i % b.i);
}

uint64_t integer_power(const Scalar& base, const Scalar& exponent) {
    bool negative = exponent.dtype.is_signed() && exponent.i < 0;
    if (negative) return base.i == 1 ? 1 : base.i != -1 ? 0 : exponent.i % 2 ? ~uint64_t{0} : 1;
    uint64_t out = 1, factor = bits_of(base);
    for (uint64_t e = bits_of(exponent); e; e >>= 1) {
        if (e & 1) out *= factor;
        factor *= factor;
    }
    return out;
}

uint64_t shifted_right(const Scalar& x, int count) {
    return x.dtype.is_signed() ? static_cast<uint64_t>(x.i >> count) : bits_of(x) >> count;
}

Scalar integer_binary(Op op, const Scalar& a, const Scalar& b) {
    DType dtype = a.dtype;
    int count = static_cast<int>(b.i & (width_of(dtype) - 1));
    switch (op) {
        case Op::Add: return wrapped(bits_of(a) + bits_of(b), dtype);
        case Op::Sub: return wrapped(bits_of(a) - bits_of(b), dtype);
        case Op::Mul: return wrapped(bits_of(a) * bits_of(b), dtype);
        case Op::Div:
        case Op::Mod: return wrapped(integer_quotient(op, a, b), dtype);
        case Op::Pow: return wrapped(integer_power(a, b), dtype);
        case Op::Min: return less(b, a) ? b : a;
        case Op::Max: return less(a, b) ? b : a;
        case Op::And: return wrapped(bits_of(a) & bits_of(b), dtype);
        case Op::Or: return wrapped(bits_of(a) | bits_of(b), dtype);
        case Op::Xor: return wrapped(bits_of(a) ^ bits_of(b), dtype);
        case Op::ShiftLeft: return wrapped(bits_of(a) << count, dtype);
        case Op::ShiftRight: return wrapped(shifted_right(a, count), dtype);
        default: throw InternalError("internal error: no integer rule for this operation");
    }
}

Scalar with_bits_of(const Scalar& x, DType dtype) {
    unsigned char bytes[8] = {};
    store_scalar(x, bytes);
    return load_scalar(dtype, bytes);
}

}  // namespace

Scalar evaluate(Op op, DType dtype, std::span<const Scalar> inputs) {
    ensure(is_elementwise(op), "an operation on whole tensors has no value for one element");
    const Scalar& x = inputs[0];
    bool is_float = x.dtype.is_float();
    // Without a default the compiler reports a new row of ops.def that is missing here.
    switch (op) {
        case Op::Cast: return x.to(dtype);
        case Op::Bitcast: return with_bits_of(x, dtype);
        case Op::Not: return scalar_bool(!truth(x));
        case Op::IsNan: return scalar_bool(is_nan(x));
        case Op::IsInf: return scalar_bool(is_float && std::isinf(x.f));
        case Op::Less: return scalar_bool(less(x, inputs[1]));
        case Op::LessEqual: return scalar_bool(less(x, inputs[1]) || equal(x, inputs[1]));
        case Op::Equal: return scalar_bool(equal(x, inputs[1]));
        case Op::NotEqual: return scalar_bool(!equal(x, inputs[1]));
        case Op::Select: return truth(x) ? inputs[1] : inputs[2];

        // clang-format off
        case Op::Neg: case Op::Abs: case Op::Sign: case Op::Floor: case Op::Ceil: case Op::Round:
        case Op::Trunc: case Op::Frac: case Op::Exp: case Op::Exp2: case Op::Expm1: case Op::Log:
        case Op::Log2: case Op::Log1p: case Op::Sqrt: case Op::Rsqrt: case Op::Rcp: case Op::Sin:
        case Op::Cos: case Op::Tan: case Op::Asin: case Op::Acos: case Op::Atan: case Op::Sinh:
        case Op::Cosh: case Op::Tanh: case Op::Erf: case Op::BitNot: case Op::ReverseBits:
            return is_float ? scalar_float(rounded(float_unary(op, x.f, dtype), dtype), dtype)
                            : integer_unary(op, x);

        case Op::Add: case Op::Sub: case Op::Mul: case Op::Div: case Op::Mod: case Op::Pow:
        case Op::Atan2: case Op::Min: case Op::Max: case Op::And: case Op::Or: case Op::Xor:
        case Op::ShiftLeft: case Op::ShiftRight:
            return is_float
                       ? scalar_float(rounded(float_binary(op, x.f, inputs[1].f), dtype), dtype)
                       : integer_binary(op, x, inputs[1]);

        default: break;  // no elementwise operation
            // clang-format on
    }
    throw InternalError(std::string("internal error: no rule to evaluate ") + info(op).name);
}

Scalar evaluate_reduce(ReduceOp op, const Scalar& accumulator, const Scalar& value) {
    const Monoid& monoid = firn::monoid(op);
    if (monoid.step == Op::Or) return scalar_bool(truth(accumulator) || truth(value));
    if (monoid.step == Op::And) return scalar_bool(truth(accumulator) && truth(value));
    const Scalar both[] = {accumulator, value};
    return evaluate(monoid.step, accumulator.dtype, both);
}

int64_t bounded_index(Bounds mode, int64_t i, int64_t n) {
    if (n <= 0) return -1;
    switch (mode) {
        case Bounds::Clamp: return std::clamp<int64_t>(i, 0, n - 1);
        case Bounds::Wrap: return ((i % n) + n) % n;
        case Bounds::Mirror: {
            int64_t within = ((i % (2 * n)) + 2 * n) % (2 * n);
            return within < n ? within : 2 * n - 1 - within;
        }
        case Bounds::Reflect: {
            if (n == 1) return 0;
            const int64_t period = 2 * n - 2, within = ((i % period) + period) % period;
            return within < n ? within : period - within;
        }
        case Bounds::Constant: return i >= 0 && i < n ? i : -1;
        case Bounds::Unchecked: return i;
    }
    return -1;
}

}  // namespace firn
