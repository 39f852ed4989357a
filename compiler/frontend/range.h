// Ranges of an axis, and the other marks that numpy has among indices: `x(range(2, -1), all,
// newaxis)`.
#pragma once
#include <concepts>
#include <cstdint>
#include <optional>

#include "compiler/program/size.h"

namespace firn {

/// Marks an open end of a range: `range(none, none, -1)`.
///
/// Example: `arange(4)(range(1, none))` is `{1, 2, 3}`.
struct NoEnd {};
inline constexpr NoEnd none;
/// Adds an axis of size 1, as an index.
///
/// Example: `arange(3)(all, newaxis)` is `{{0}, {1}, {2}}`.
struct NewAxis {};
inline constexpr NewAxis newaxis;
/// Stands for all axes that the other indices do not use, as an index; at most once.
///
/// Example: `zeros({2, 3, 4})(ellipsis, 0).shape()` is `[2, 3]`.
struct Ellipsis {};
inline constexpr Ellipsis ellipsis;

/// The begin or end of a range: a number, which counts from the end if it is negative, a size, or
/// `none`.
struct RangeEnd {
    /// A number, a size, or an open end.
    /// @{
    RangeEnd(NoEnd) {}
    template <std::integral T>
    RangeEnd(T at) : at(Size(at)) {}
    RangeEnd(const Size& at) : at(at) {}
    /// @}

    std::optional<Size> at;
};

/// Elements begin, begin + step, ... of one axis, before end.
struct IndexRange {
    std::optional<Size> begin, end;  ///< none: the ends of the axis, in the order of the step
    int64_t step = 1;
};
/// numpy's begin:end:step as an index. Numbers beyond the axis are cut, as there; where the size of
/// the axis or an end is symbolic nothing is cut: the range must be inside, which is checked at the
/// call.
///
/// Examples: after `Tensor x = arange(6);` `x(range(2, -1))` is `{2, 3, 4}`, `x(range(-2, 99))` is
/// `{4, 5}`, `x(range(4, 1, -1))` is `{4, 3, 2}`, `x(range(none, none, -2))` is `{5, 3, 1}`.
inline IndexRange range(const RangeEnd& begin, const RangeEnd& end, int64_t step = 1) {
    return {begin.at, end.at, step};
}
/// The elements before `end`.
///
/// Examples: `arange(6)(range(2))` is `{0, 1}`, `arange(6)(range(-2))` is `{0, 1, 2, 3}`.
inline IndexRange range(const RangeEnd& end) { return {std::nullopt, end.at}; }

}  // namespace firn
