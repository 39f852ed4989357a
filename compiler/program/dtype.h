// Element types and scalar values.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/program/size.h"

namespace firn {

enum class Type : uint8_t { F32, F16, BF16, F64, I32, U32, I64, U64, I16, U16, I8, U8, Bool };

struct ArgSpec;

/// One dimension of an ArgSpec: a number, or a symbol by name.
struct Dim {
    Dim(const char* symbol) : size(Size::symbol(symbol)) {}
    Dim(const std::string& symbol) : size(Size::symbol(symbol)) {}
    Dim(const Size& value) : size(value) {}
    template <std::integral T>
    Dim(T number) : size(number) {}
    Size size;
};

/// An element type. `f32("n", 4)` makes the ArgSpec of an argument with shape [n, 4].
struct DType {
    Type type = Type::F32;
    friend constexpr bool operator==(DType, DType) = default;

    template <class... Dims>
    ArgSpec operator()(Dims&&... dims) const;

    constexpr bool is_float() const {
        return type == Type::F32 || type == Type::F16 || type == Type::BF16 || type == Type::F64;
    }
    /// A float of 16 bits: it is computed in f32, and rounded after each operation.
    constexpr bool is_half() const { return type == Type::F16 || type == Type::BF16; }
    constexpr bool is_bool() const { return type == Type::Bool; }
    constexpr bool is_integer() const { return !is_float() && !is_bool(); }
    constexpr bool is_signed() const {
        return is_float() || type == Type::I32 || type == Type::I64 || type == Type::I16 ||
               type == Type::I8;
    }
    /// An integer of 8 or 16 bits: only storage, arithmetic is done in i32.
    constexpr bool is_narrow() const { return is_integer() && bytes() < 4; }
    /// Bytes of one element in a buffer. A bool is stored as a 32-bit 0 or 1.
    constexpr int bytes() const {
        switch (type) {
            case Type::F16:
            case Type::BF16:
            case Type::I16:
            case Type::U16: return 2;
            case Type::I8:
            case Type::U8: return 1;
            case Type::F64:
            case Type::I64:
            case Type::U64: return 8;
            case Type::F32:
            case Type::I32:
            case Type::U32:
            case Type::Bool: return 4;
        }
        return 4;
    }
    constexpr const char* name() const {
        switch (type) {
            case Type::F32: return "f32";
            case Type::F16: return "f16";
            case Type::BF16: return "bf16";
            case Type::F64: return "f64";
            case Type::I32: return "i32";
            case Type::U32: return "u32";
            case Type::I64: return "i64";
            case Type::U64: return "u64";
            case Type::I16: return "i16";
            case Type::U16: return "u16";
            case Type::I8: return "i8";
            case Type::U8: return "u8";
            case Type::Bool: return "bool";
        }
        return "?";
    }
};

inline constexpr DType f32{Type::F32}, f16{Type::F16}, bf16{Type::BF16}, f64{Type::F64},
    i32{Type::I32}, u32{Type::U32}, i64{Type::I64}, u64{Type::U64}, i16{Type::I16}, u16{Type::U16},
    i8{Type::I8}, u8{Type::U8}, boolean{Type::Bool};
inline constexpr DType kAllTypes[] = {f32, f16, bf16, f64, i32, u32,    i64,
                                      u64, i16, u16,  i8,  u8,  boolean};

/// The type that arithmetic on this one is done in: narrow integers and bools are only storage.
constexpr DType arithmetic_type(DType dtype) {
    return dtype.is_bool() || dtype.is_narrow() ? i32 : dtype;
}

/// What a compiled function expects of one argument: its type and its shape; rank 0 is a scalar.
struct ArgSpec {
    DType dtype;
    Shape shape;
};

template <class... Dims>
ArgSpec DType::operator()(Dims&&... dims) const {
    return ArgSpec{*this, Shape{Dim(std::forward<Dims>(dims)).size...}};
}

/// One scalar value with its type. Floats of every width live in `f`, integers and bools in `i`
/// (u64 by its bits); a value is always already rounded or wrapped to `dtype`.
struct Scalar {
    DType dtype = f32;
    double f = 0;
    int64_t i = 0;

    /// Converts as C++ does between arithmetic types, except that a float outside an integer's
    /// range saturates, nan becomes 0, and anything to bool is `!= 0`.
    Scalar to(DType target) const;
    double as_double() const;
    int64_t as_int() const;
    /// Equal by bits: nan equals the same nan, 0 and -0 differ.
    friend bool operator==(const Scalar& a, const Scalar& b);
};
Scalar scalar_float(double value, DType dtype = f32);
Scalar scalar_int(int64_t value, DType dtype = i32);
Scalar scalar_bool(bool value);
/// Reads and writes one element in its storage form.
Scalar load_scalar(DType dtype, const void* bytes);
void store_scalar(const Scalar& value, void* bytes);
/// Text that parse_scalar reads back to the same bits: `1.5`, `nan`, `-inf`, `-0.0`, `7`, `true`.
std::string text(const Scalar& value);
Scalar parse_scalar(const std::string& text, DType dtype);
/// Rounds to the nearest f16 (ties to even) and back.
float round_to_f16(float value);
uint16_t f32_to_f16_bits(float value);
float f16_bits_to_f32(uint16_t bits);
/// bf16 is the upper half of an f32: its exponent, and 8 bits of precision. Rounds to the nearest,
/// ties to even; a nan becomes quiet.
uint16_t f32_to_bf16_bits(float value);
float bf16_bits_to_f32(uint16_t bits);

/// The type by its name (`f32`, ...); throws UserError otherwise.
DType parse_dtype(const std::string& name);

}  // namespace firn
