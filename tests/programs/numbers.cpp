// Arithmetic on single numbers by type.
#include "tests/programs/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace firn::programs {

DType joined(DType a, DType b) {
    if (a == b) return a;
    if (a.is_float() != b.is_float()) return a.is_float() ? a : b;
    if (a.is_bool() || b.is_bool()) return a.is_bool() ? b : a;
    auto half = [](DType type) { return type == f16 || type == bf16; };
    if (half(a) && half(b)) return f32;
    if (a.bytes() < b.bytes()) std::swap(a, b);
    if (a == u16 && b.is_signed()) return i32;
    if (a.bytes() != b.bytes()) return a;
    if (a.bytes() < 4) return i32;
    return a.is_signed() ? a : b;
}

DType computed_type(DType dtype) {
    return dtype.is_bool() || (!dtype.is_float() && dtype.bytes() < 4) ? i32 : dtype;
}

DType reduced_type(Fn fn, DType dtype) {
    if (fn == Fn::Smallest || fn == Fn::Largest) return dtype;
    if (fn == Fn::Argmin || fn == Fn::Argmax) return i32;
    return fn == Fn::Any || fn == Fn::All ? boolean : computed_type(dtype);
}

FnTypes types_of(Fn fn, const std::vector<Operand>& operands) {
    DType dtype = boolean;
    bool first = true, weak_float = false, weak_int = false;
    for (const Operand& each : operands) {
        if (each.weak) {
            weak_float |= each.dtype.is_float(), weak_int |= each.dtype.is_integer();
            continue;
        }
        dtype = first ? each.dtype : joined(dtype, each.dtype);
        first = false;
    }
    if (first) throw Unsuitable("numbers alone");
    if (weak_float && !dtype.is_float()) dtype = f32;
    if (weak_int && dtype.is_bool()) dtype = i32;
    switch (fn) {
        case Fn::Select: return {dtype, dtype};
        case Fn::Not: return {boolean, boolean};
        case Fn::Floor:
        case Fn::Gate:
        case Fn::Hypot: return dtype.is_float() ? FnTypes{dtype, dtype} : FnTypes{f32, f32};
        case Fn::And:
        case Fn::Or:
        case Fn::Xor:
        case Fn::BitNot:
            return dtype.is_bool() ? FnTypes{boolean, boolean}
                                   : FnTypes{computed_type(dtype), computed_type(dtype)};
        case Fn::Equal:
        case Fn::NotEqual: return {dtype.is_bool() ? boolean : computed_type(dtype), boolean};
        case Fn::Less:
        case Fn::LessEqual: return {computed_type(dtype), boolean};
        case Fn::Min:
        case Fn::Max: {
            // One of the operands, in their type, where that holds the C++ numbers.
            const bool held = std::all_of(operands.begin(), operands.end(), [&](const Operand& x) {
                return !x.weak || dtype.is_float() ||
                       converted({0, x.number}, i64, dtype).i == x.number;
            });
            return {computed_type(dtype), held ? dtype : computed_type(dtype)};
        }
        default: return {computed_type(dtype), computed_type(dtype)};
    }
}

namespace {

double rounded(double value, DType dtype) {
    double out = value;
    if (dtype == f32) out = static_cast<float>(value);
    if (dtype == f16) out = round_to_f16(static_cast<float>(value));
    if (dtype == bf16) out = bf16_bits_to_f32(f32_to_bf16_bits(static_cast<float>(value)));
    if (!std::isfinite(out) || out != value || std::abs(value) > 0x1p50)
        throw Unsuitable("a float rounds");
    return out;
}

Number wrapped(uint64_t bits, DType dtype) {
    switch (dtype.type) {
        case Type::I16: return {0, static_cast<int16_t>(bits)};
        case Type::U16: return {0, static_cast<uint16_t>(bits)};
        case Type::I8: return {0, static_cast<int8_t>(bits)};
        case Type::U8: return {0, static_cast<uint8_t>(bits)};
        case Type::I32: return {0, static_cast<int32_t>(bits)};
        case Type::U32: return {0, static_cast<uint32_t>(bits)};
        case Type::Bool: return {0, static_cast<int64_t>(bits & 1)};
        default: return {0, static_cast<int64_t>(bits)};
    }
}

uint64_t bits(const Number& x) { return static_cast<uint64_t>(x.i); }

/// The integer next to 0, or the nearest that the type has.
Number truncated(double value, DType dtype) {
    const int width = 8 * dtype.bytes() - (dtype.is_signed() ? 1 : 0);
    const double end = std::ldexp(1.0, width), begin = dtype.is_signed() ? -end : 0;
    if (value >= end)
        return wrapped(dtype.is_signed() ? (uint64_t{1} << width) - 1 : ~uint64_t{0}, dtype);
    if (value <= begin) return wrapped(dtype.is_signed() ? uint64_t{1} << width : 0, dtype);
    if (value < 0) return wrapped(static_cast<uint64_t>(static_cast<int64_t>(value)), dtype);
    return wrapped(static_cast<uint64_t>(value), dtype);
}

bool less(const Number& a, const Number& b, DType dtype) {
    if (dtype.is_float()) return a.f < b.f;
    return dtype == u64 ? bits(a) < bits(b) : a.i < b.i;
}

Number float_applied(Fn fn, DType dtype, double a, double b) {
    switch (fn) {
        case Fn::Neg: return {-a, 0};
        case Fn::Abs: return {std::abs(a), 0};
        case Fn::Sign: return {a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0, 0};
        case Fn::Floor: return {std::floor(a), 0};
        case Fn::Gate: return {a >= 0 ? 1.0 : 0.0, 0};
        case Fn::Hypot:
            if (a != 0 && b != 0) throw Unsuitable("a float rounds");
            return {std::abs(a) + std::abs(b), 0};
        case Fn::Add: return {rounded(a + b, dtype), 0};
        case Fn::Sub: return {rounded(a - b, dtype), 0};
        case Fn::Mul: return {rounded(a * b, dtype), 0};
        case Fn::Div: return {rounded(a / b, dtype), 0};
        case Fn::Mod: return {rounded(a - b * std::floor(rounded(a / b, dtype)), dtype), 0};
        case Fn::Min: return {std::fmin(a, b), 0};
        case Fn::Max: return {std::fmax(a, b), 0};
        default: throw Unsuitable("bits of a float");
    }
}

uint64_t quotient(bool rest, DType dtype, const Number& a, const Number& b) {
    if (b.i == 0) return 0;
    if (!dtype.is_signed()) return rest ? bits(a) % bits(b) : bits(a) / bits(b);
    if (b.i == -1) return rest ? 0 : 0 - bits(a);
    return static_cast<uint64_t>(rest ? a.i % b.i : a.i / b.i);
}

Number integer_applied(Fn fn, DType dtype, const Number& a, const Number& b) {
    const int shift = static_cast<int>(b.i & (8 * dtype.bytes() - 1));
    const bool negative = dtype.is_signed() && a.i < 0;
    switch (fn) {
        case Fn::Neg: return wrapped(0 - bits(a), dtype);
        case Fn::Abs: return wrapped(negative ? 0 - bits(a) : bits(a), dtype);
        case Fn::Sign: return wrapped(negative ? ~uint64_t{0} : a.i != 0, dtype);
        case Fn::BitNot: return wrapped(~bits(a), dtype);
        case Fn::Add: return wrapped(bits(a) + bits(b), dtype);
        case Fn::Sub: return wrapped(bits(a) - bits(b), dtype);
        case Fn::Mul: return wrapped(bits(a) * bits(b), dtype);
        case Fn::Div: return wrapped(quotient(false, dtype, a, b), dtype);
        case Fn::Mod: return wrapped(quotient(true, dtype, a, b), dtype);
        case Fn::Min: return less(b, a, dtype) ? b : a;
        case Fn::Max: return less(a, b, dtype) ? b : a;
        case Fn::And: return wrapped(bits(a) & bits(b), dtype);
        case Fn::Or: return wrapped(bits(a) | bits(b), dtype);
        case Fn::Xor: return wrapped(bits(a) ^ bits(b), dtype);
        case Fn::ShiftLeft: return wrapped(bits(a) << shift, dtype);
        case Fn::ShiftRight:
            return wrapped(negative ? ~(~bits(a) >> shift) : bits(a) >> shift, dtype);
        default: throw Unsuitable("no function of integers");
    }
}

}  // namespace

bool equal(const Number& a, const Number& b, DType dtype) {
    return dtype.is_float() ? a.f == b.f : a.i == b.i;
}

Number converted(const Number& x, DType from, DType to) {
    if (from == to) return x;
    if (to.is_bool()) return {0, from.is_float() ? x.f != 0 : x.i != 0};
    if (!to.is_float()) return from.is_float() ? truncated(x.f, to) : wrapped(bits(x), to);
    if (from.is_float()) return {rounded(x.f, to), 0};
    const auto value =
        from == u64 ? static_cast<long double>(bits(x)) : static_cast<long double>(x.i);
    if (std::abs(value) > 0x1p50L) throw Unsuitable("a float rounds");
    return {rounded(static_cast<double>(value), to), 0};
}

Number number_of(double value, DType dtype) {
    if (dtype.is_float()) return {rounded(value, dtype), 0};
    return dtype.is_bool() ? Number{0, value != 0}
                           : wrapped(static_cast<uint64_t>(static_cast<int64_t>(value)), dtype);
}

Number applied(Fn fn, DType dtype, const Number& a, const Number& b) {
    switch (fn) {
        case Fn::Not: return {0, a.i == 0};
        case Fn::Less: return {0, less(a, b, dtype)};
        case Fn::LessEqual: return {0, !less(b, a, dtype)};
        case Fn::Equal: return {0, equal(a, b, dtype)};
        case Fn::NotEqual: return {0, !equal(a, b, dtype)};
        default: break;
    }
    return dtype.is_float() ? float_applied(fn, dtype, a.f, b.f) : integer_applied(fn, dtype, a, b);
}

std::string text(const Number& x, DType dtype) {
    if (dtype.is_float()) {
        char out[32];
        std::snprintf(out, sizeof out, "%.12g", x.f);
        return out;
    }
    return dtype == u64 ? std::to_string(static_cast<uint64_t>(x.i)) : std::to_string(x.i);
}

}  // namespace firn::programs
