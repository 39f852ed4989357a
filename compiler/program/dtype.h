// Element types and scalar values.
#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/program/size.h"

namespace firn {

/// The kinds of elements; DType has their properties, `f32` and its kin are their names.
enum class Type : uint8_t { F32, F16, BF16, F64, I32, U32, I64, U64, I16, U16, I8, U8, Bool };

struct ArgSpec;

/// A dimension of an ArgSpec: a number, or a symbol by name.
struct Dim {
    /// A symbol by its name, a size, or a number.
    /// @{
    Dim(const char* symbol) : size(Size::symbol(symbol)) {}
    Dim(const std::string& symbol) : size(Size::symbol(symbol)) {}
    Dim(const Size& value) : size(value) {}
    template <std::integral T>
    Dim(T number) : size(number) {}
    /// @}

    Size size;
};

/// An element type.
///
/// Examples: `f16.bytes()` is `2`, `bf16.name()` is `"bf16"`, `boolean.is_integer()` is `false`.
struct DType {
    Type type = Type::F32;
    friend constexpr bool operator==(DType, DType) = default;

    /// The ArgSpec of an argument of this type; without dimensions it is a scalar.
    ///
    /// Example: `text(f32("n", 4).shape)` is `"[n, 4]"`.
    template <class... Dims>
    ArgSpec operator()(Dims&&... dims) const;

    /// Returns whether it is f32, f16, bf16 or f64.
    constexpr bool is_float() const {
        return type == Type::F32 || type == Type::F16 || type == Type::BF16 || type == Type::F64;
    }
    /// A float of 16 bits: it is computed in f32, and rounded after each operation.
    constexpr bool is_half() const { return type == Type::F16 || type == Type::BF16; }
    /// Returns whether it is `boolean`.
    constexpr bool is_bool() const { return type == Type::Bool; }
    /// Returns whether it is an integer; a bool is none.
    constexpr bool is_integer() const { return !is_float() && !is_bool(); }
    /// Returns whether it has negative numbers: floats and signed integers.
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
    /// The name in C++; that of `boolean` is `bool`.
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

/// The element types by their names; bools are `boolean`.
inline constexpr DType f32{Type::F32}, f16{Type::F16}, bf16{Type::BF16}, f64{Type::F64},
    i32{Type::I32}, u32{Type::U32}, i64{Type::I64}, u64{Type::U64}, i16{Type::I16}, u16{Type::U16},
    i8{Type::I8}, u8{Type::U8}, boolean{Type::Bool};
/// All of them.
inline constexpr DType kAllTypes[] = {f32, f16, bf16, f64, i32, u32,    i64,
                                      u64, i16, u16,  i8,  u8,  boolean};

/// The type that arithmetic on this one is done in: narrow integers and bools are only storage.
///
/// Examples: `arithmetic_type(u8).name()` is `"i32"`, `arithmetic_type(f16).name()` is `"f16"`.
constexpr DType arithmetic_type(DType dtype) {
    return dtype.is_bool() || dtype.is_narrow() ? i32 : dtype;
}

/// The type and shape that a compiled function expects of one argument; rank 0 is a scalar.
struct ArgSpec {
    DType dtype;
    Shape shape;
};

template <class... Dims>
ArgSpec DType::operator()(Dims&&... dims) const {
    return ArgSpec{*this, Shape{Dim(std::forward<Dims>(dims)).size...}};
}

/// A scalar value with its type. Floats of every width live in `f`, integers and bools in `i` (u64
/// by its bits); a value is always already rounded or wrapped to `dtype`.
///
/// Examples: `scalar_float(-2.9).to(i32).i` is `-2`, `scalar_float(300).to(u8).i` is `255`,
/// `scalar_int(300).to(u8).i` is `44`.
struct Scalar {
    DType dtype = f32;
    double f = 0;
    int64_t i = 0;

    /// Converts as C++ does between arithmetic types, except that a float outside an integer's
    /// range saturates, nan becomes 0, and anything to bool is `!= 0`.
    Scalar to(DType target) const;
    /// The value, rounded where it is an integer of 64 bits.
    double as_double() const;
    /// The value as i64: a float is truncated and saturates, nan becomes 0; a u64 by its bits.
    int64_t as_int() const;
    /// Equal by bits: nan equals the same nan, 0 and -0 differ.
    friend bool operator==(const Scalar& a, const Scalar& b);
};
/// @cond
/// The type cannot hold the number. To round a float to another one loses nothing, unless the
/// number becomes infinite.
bool loses_value(const Scalar& number, DType dtype);
/// @endcond
/// A number as a scalar of `dtype`: a float is rounded, or as Scalar::to makes an integer of it; an
/// integer wraps.
///
/// Examples: `scalar_float(2049, f16).f` is `2048`, `scalar_int(-1, u8).i` is `255`,
/// `scalar_bool(true).i` is `1`.
/// @{
Scalar scalar_float(double value, DType dtype = f32);
Scalar scalar_int(int64_t value, DType dtype = i32);
Scalar scalar_bool(bool value);
/// @}

/// Reads and writes one element in its storage form: DType::bytes() of them.
///
/// Example: after `uint16_t bits = 0; store_scalar(scalar_float(1.5, f16), &bits);` `bits` is
/// `15872`, `load_scalar(f16, &bits).f` is `1.5`.
/// @{
Scalar load_scalar(DType dtype, const void* bytes);
void store_scalar(const Scalar& value, void* bytes);
/// @}

/// Text that parse_scalar reads back to the same bits: `1.5`, `nan`, `-inf`, `-0.0`, `7`, `true`.
///
/// Examples: `text(scalar_float(1))` is `"1.0"`, `text(scalar_bool(true))` is `"true"`.
std::string text(const Scalar& value);
/// Parses the text() of a scalar; UserError if the text is no value of this type, or one out of its
/// range.
///
/// Examples: `parse_scalar("-0.5", f32).f` is `-0.5`, `parse_scalar("inf", f16).f` is `inf`.
Scalar parse_scalar(const std::string& text, DType dtype);
/// Rounds to the nearest f16 (ties to even) and back; from 65520 on to infinity.
///
/// Examples: `round_to_f16(2049.0f)` is `2048`, `round_to_f16(1e5f)` is `inf`.
float round_to_f16(float value);
/// The bits of the nearest f16 (ties to even), and the f32 of such bits.
///
/// Examples: `f32_to_f16_bits(1.0f)` is `15360`, `f16_bits_to_f32(15360)` is `1`.
/// @{
uint16_t f32_to_f16_bits(float value);
float f16_bits_to_f32(uint16_t bits);
/// @}

/// bf16 is the upper half of an f32: its exponent, and 8 bits of precision. Rounds to the nearest,
/// ties to even; a nan becomes quiet.
///
/// Examples: `f32_to_bf16_bits(1.0f)` is `16256`, `bf16_bits_to_f32(16256)` is `1`.
/// @{
uint16_t f32_to_bf16_bits(float value);
float bf16_bits_to_f32(uint16_t bits);
/// @}

/// The type by its name, as DType::name() gives it; throws UserError otherwise.
///
/// Example: `parse_dtype("u8").bytes()` is `1`.
DType parse_dtype(const std::string& name);

}  // namespace firn
