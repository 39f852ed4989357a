// Scalar values: conversion between types, storage, text, and half precision.
#include "compiler/program/dtype.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/base/error.h"

namespace firn {
namespace {

/// Returns the one of the two floats around `value` with an odd mantissa: rounding it to fewer bits
/// gives the same as rounding `value` directly. S. Boldo and G. Melquiond, "When double rounding is
/// odd", 2005.
float rounded_to_odd(double value) {
    const auto nearest = static_cast<float>(value);
    if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
    auto bits = std::bit_cast<uint32_t>(nearest);
    if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;
    return std::bit_cast<float>(bits | 1u);
}

double rounded(double value, Type type) {
    switch (type) {
        case Type::F32: return static_cast<float>(value);
        case Type::F16: return round_to_f16(rounded_to_odd(value));
        case Type::BF16: return bf16_bits_to_f32(f32_to_bf16_bits(rounded_to_odd(value)));
        default: return value;
    }
}

/// An integer as an f64 that rounds to the same halves: from 2^53 on its lowest bit says whether
/// any was lost.
double for_halves(const Scalar& x) {
    const bool negative = x.dtype != u64 && x.i < 0;
    auto size = static_cast<uint64_t>(x.i);
    if (negative) size = 0 - size;
    constexpr uint64_t kLost = 0x7ff;
    if (size >> 53 && (size & kLost)) size = (size & ~kLost) | (kLost + 1);
    const auto value = static_cast<double>(size);
    return negative ? -value : value;
}

/// The low bits of `value` as an integer of this type.
int64_t wrapped(int64_t value, Type type) {
    switch (type) {
        case Type::I32: return static_cast<int32_t>(value);
        case Type::U32: return static_cast<uint32_t>(value);
        case Type::I16: return static_cast<int16_t>(value);
        case Type::U16: return static_cast<uint16_t>(value);
        case Type::I8: return static_cast<int8_t>(value);
        case Type::U8: return static_cast<uint8_t>(value);
        case Type::Bool: return value != 0;
        default: return value;
    }
}

template <class T>
int64_t saturated(double value) {
    if (std::isnan(value)) return 0;
    // 2^digits is exact in a double, the largest T may not be.
    double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (value >= end) return static_cast<int64_t>(std::numeric_limits<T>::max());
    if (value <= static_cast<double>(std::numeric_limits<T>::min()))
        return static_cast<int64_t>(std::numeric_limits<T>::min());
    return static_cast<int64_t>(static_cast<T>(value));
}

int64_t to_integer(double value, Type type) {
    switch (type) {
        case Type::I32: return saturated<int32_t>(value);
        case Type::U32: return saturated<uint32_t>(value);
        case Type::I64: return saturated<int64_t>(value);
        case Type::U64: return saturated<uint64_t>(value);
        case Type::I16: return saturated<int16_t>(value);
        case Type::U16: return saturated<uint16_t>(value);
        case Type::I8: return saturated<int8_t>(value);
        case Type::U8: return saturated<uint8_t>(value);
        case Type::Bool: return value != 0;
        case Type::F32:
        case Type::F16:
        case Type::BF16:
        case Type::F64: break;
    }
    throw InternalError("internal error: not an integer type");
}

template <class T>
T read(const void* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
}
template <class T>
void write(T value, void* bytes) {
    std::memcpy(bytes, &value, sizeof(T));
}

constexpr uint64_t kPlainNan = 0x7ff8000000000000ull;

template <class T>
std::string shortest(T value) {
    char buffer[64];
    auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    std::string result(buffer, end);
    if (result.find_first_of(".en") == std::string::npos) result += ".0";
    return result;
}

/// Reads all of `text` as a T.
template <class T, class... Base>
bool read_all(const std::string& text, T& value, Base... base) {
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
    return error == std::errc() && end == text.data() + text.size();
}

[[noreturn]] void cannot_read(const std::string& text, DType dtype) {
    throw UserError("cannot read '" + text + "' as a value of type " + dtype.name() +
                    "; write it as in " +
                    (dtype.is_float()  ? "1.5, -0.0, inf or nan"
                     : dtype.is_bool() ? "true or false"
                                       : "7 (within the range of the type)"));
}

Scalar parse_float(const std::string& text, DType dtype) {
    uint64_t bits = kPlainNan;
    if (text == "nan") return {dtype, std::bit_cast<double>(bits), 0};
    if (text.starts_with("nan(0x") && text.ends_with(")")) {
        if (!read_all(text.substr(6, text.size() - 7), bits, 16)) cannot_read(text, dtype);
        return {dtype, std::bit_cast<double>(bits), 0};
    }
    // Halves, too, are read as f32: rounding twice by way of f64 could miss the nearest value.
    float single = 0;
    double value = 0;
    bool read = dtype == f64 ? read_all(text, value) : read_all(text, single);
    if (!read || text[0] == '+') cannot_read(text, dtype);
    return scalar_float(dtype == f64 ? value : single, dtype);
}

}  // namespace

double Scalar::as_double() const {
    if (dtype.is_float()) return f;
    return dtype == u64 ? static_cast<double>(static_cast<uint64_t>(i)) : static_cast<double>(i);
}

bool operator==(const Scalar& a, const Scalar& b) {
    return a.dtype == b.dtype && a.i == b.i &&
           std::bit_cast<uint64_t>(a.f) == std::bit_cast<uint64_t>(b.f);
}

int64_t Scalar::as_int() const { return dtype.is_float() ? to_integer(f, Type::I64) : i; }

Scalar Scalar::to(DType target) const {
    if (target == dtype) return *this;
    if (!target.is_float())
        return {target, 0, dtype.is_float() ? to_integer(f, target.type) : wrapped(i, target.type)};
    if (dtype.is_float()) return {target, rounded(f, target.type), 0};
    // Integers of 64 bits are rounded once, straight to the narrow type.
    if (target.is_half()) return {target, rounded(for_halves(*this), target.type), 0};
    bool narrow = target != f64;
    double value = dtype == u64 ? (narrow ? static_cast<float>(static_cast<uint64_t>(i))
                                          : static_cast<double>(static_cast<uint64_t>(i)))
                                : (narrow ? static_cast<float>(i) : static_cast<double>(i));
    return {target, rounded(value, target.type), 0};
}

bool loses_value(const Scalar& number, DType dtype) {
    const Scalar value = number.to(dtype);
    if (number.dtype.is_float() && dtype.is_float())
        return std::isfinite(number.f) && !std::isfinite(value.f);
    return !(value.to(number.dtype) == number);
}

Scalar scalar_float(double value, DType dtype) {
    if (!dtype.is_float()) return Scalar{f64, value, 0}.to(dtype);
    return {dtype, rounded(value, dtype.type), 0};
}

Scalar scalar_int(int64_t value, DType dtype) {
    if (dtype.is_float()) return Scalar{i64, 0, value}.to(dtype);
    return {dtype, 0, wrapped(value, dtype.type)};
}

Scalar scalar_bool(bool value) { return {boolean, 0, value}; }

Scalar load_scalar(DType dtype, const void* bytes) {
    switch (dtype.type) {
        case Type::F32: return {dtype, read<float>(bytes), 0};
        case Type::F16: return {dtype, f16_bits_to_f32(read<uint16_t>(bytes)), 0};
        case Type::BF16: return {dtype, bf16_bits_to_f32(read<uint16_t>(bytes)), 0};
        case Type::F64: return {dtype, read<double>(bytes), 0};
        case Type::I32: return {dtype, 0, read<int32_t>(bytes)};
        case Type::U32: return {dtype, 0, read<uint32_t>(bytes)};
        case Type::I64:
        case Type::U64: return {dtype, 0, read<int64_t>(bytes)};
        case Type::I16: return {dtype, 0, read<int16_t>(bytes)};
        case Type::U16: return {dtype, 0, read<uint16_t>(bytes)};
        case Type::I8: return {dtype, 0, read<int8_t>(bytes)};
        case Type::U8: return {dtype, 0, read<uint8_t>(bytes)};
        case Type::Bool: return {dtype, 0, read<uint32_t>(bytes) != 0};
    }
    throw InternalError("internal error: unknown type of a scalar");
}

void store_scalar(const Scalar& value, void* bytes) {
    switch (value.dtype.type) {
        case Type::F32: return write(static_cast<float>(value.f), bytes);
        case Type::F16: return write(f32_to_f16_bits(static_cast<float>(value.f)), bytes);
        case Type::BF16: return write(f32_to_bf16_bits(static_cast<float>(value.f)), bytes);
        case Type::F64: return write(value.f, bytes);
        case Type::I32:
        case Type::U32:
        case Type::Bool: return write(static_cast<uint32_t>(value.i), bytes);
        case Type::I64:
        case Type::U64: return write(value.i, bytes);
        case Type::I16:
        case Type::U16: return write(static_cast<uint16_t>(value.i), bytes);
        case Type::I8:
        case Type::U8: return write(static_cast<uint8_t>(value.i), bytes);
    }
}

std::string text(const Scalar& value) {
    if (value.dtype.is_bool()) return value.i ? "true" : "false";
    if (value.dtype == u64) return std::to_string(static_cast<uint64_t>(value.i));
    if (value.dtype.is_integer()) return std::to_string(value.i);
    if (std::isnan(value.f)) {
        auto bits = std::bit_cast<uint64_t>(value.f);
        if (bits == kPlainNan) return "nan";
        char digits[16];
        auto end = std::to_chars(digits, digits + sizeof digits, bits, 16).ptr;
        return "nan(0x" + std::string(digits, end) + ")";
    }
    return value.dtype == f64 ? shortest(value.f) : shortest(static_cast<float>(value.f));
}

Scalar parse_scalar(const std::string& text, DType dtype) {
    if (dtype.is_bool()) {
        if (text != "true" && text != "false") cannot_read(text, dtype);
        return scalar_bool(text == "true");
    }
    if (dtype.is_float()) return parse_float(text, dtype);
    uint64_t bits = 0;
    int64_t value = 0;
    if (dtype == u64) {
        if (!read_all(text, bits)) cannot_read(text, dtype);
        return {dtype, 0, static_cast<int64_t>(bits)};
    }
    if (!read_all(text, value) || wrapped(value, dtype.type) != value) cannot_read(text, dtype);
    return {dtype, 0, value};
}

uint16_t f32_to_f16_bits(float value) {
    auto bits = std::bit_cast<uint32_t>(value);
    auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
    uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u)
        return static_cast<uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu));
    if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // 65520 and above round to infinity
    if (magnitude < 0x38800000u) {
        // Subnormal: adding 0.5 puts the f16 steps of 2^-24 at the end of the f32 mantissa, which
        // rounds to nearest even by itself.
        float shifted = std::bit_cast<float>(magnitude) + 0.5f;
        return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
    }
    uint32_t odd = magnitude >> 13 & 1u;
    return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

float f16_bits_to_f32(uint16_t bits) {
    uint32_t sign = (bits & 0x8000u) << 16;
    uint32_t exponent = bits >> 10 & 0x1fu, mantissa = bits & 0x3ffu;
    if (exponent == 0) {
        float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
        return sign ? -magnitude : magnitude;
    }
    uint32_t wide = exponent == 31 ? 255u : exponent + 112u;
    return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

uint16_t f32_to_bf16_bits(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
    return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

float bf16_bits_to_f32(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

float round_to_f16(float value) { return f16_bits_to_f32(f32_to_f16_bits(value)); }

DType parse_dtype(const std::string& name) {
    std::string known;
    for (DType dtype : kAllTypes) {
        if (name == dtype.name()) return dtype;
        known += (known.empty() ? "" : ", ") + std::string(dtype.name());
    }
    throw UserError("there is no element type '" + name + "'; the types are " + known);
}

}  // namespace firn
