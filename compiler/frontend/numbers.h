// Numbers of C++ as tensors meet them.
#pragma once
#include <concepts>
#include <optional>
#include <type_traits>

#include "compiler/program/dtype.h"

namespace firn {

/// A number of C++: integers, floating point, bool.
template <class T>
concept Arithmetic = std::is_arithmetic_v<std::remove_cvref_t<T>>;

/// A type that stands for a number wherever a number is allowed, by its `number()` at that time: a
/// parameter of a program.
template <class T>
concept StandsForNumber = requires(const T& x) {
    { x.number() } -> Arithmetic;
};

/// Returns the dtype whose elements in memory are a T; nothing if there is none, as for bool, whose
/// elements are words.
///
/// Examples: `stored_as<double>() == f64` is `true`, `stored_as<bool>().has_value()` is `false`.
template <Arithmetic T>
constexpr std::optional<DType> stored_as() {
    if constexpr (std::is_same_v<T, bool>)
        return std::nullopt;
    else if constexpr (std::is_floating_point_v<T>)
        return sizeof(T) == 4   ? std::optional(f32)
               : sizeof(T) == 8 ? std::optional(f64)
                                : std::nullopt;
    else if constexpr (sizeof(T) == 8)
        return std::is_signed_v<T> ? i64 : u64;
    else if constexpr (sizeof(T) == 4)
        return std::is_signed_v<T> ? i32 : u32;
    else if constexpr (sizeof(T) == 2)
        return std::is_signed_v<T> ? i16 : u16;
    else if constexpr (sizeof(T) == 1)
        return std::is_signed_v<T> ? i8 : u8;
    else
        return std::nullopt;
}

}  // namespace firn
