// The size of one axis as users meet it: a Size that is a C++ integer where it is known.
#pragma once
#include <concepts>
#include <string>

#include "compiler/base/error.h"
#include "compiler/ir/source_line.h"
#include "compiler/program/size.h"

namespace firn {

/// The type of `x.size(k)` and `x.shape()[k]`. Used as an integer it must be known: a symbolic one
/// is a UserError with the line of the size. Arithmetic with integers and sizes stays symbolic;
/// compared as in `for (int k = 0; k < x.size(0); ++k)` it must be known, too.
///
/// Examples: after `Tensor x = zeros({5, 3}); int rows = x.size(0);` `rows` is `5`,
/// `x.size(0) * x.size(1)` is `15`, `x.size(0) > 4` is `true`.
class Dimension : public Size {
  public:
    /// `line` is the line of the call that gave it.
    explicit Dimension(const Size& size, SourceLine line = {}) : Size(size), line_(line) {}

    /// The number; a symbolic size is a UserError.
    template <std::integral T>
    operator T() const {
        if (!is_constant())
            throw UserError(
                "size: " + Size::text() +
                " is symbolic and has no value while recording, so it cannot be a C++ integer; "
                "use it in shapes, loop bounds and indices as it is, or Tensor(size) (" +
                firn::text(line_) + ")");
        return static_cast<T>(constant());
    }
    /// Converts explicitly, `float(x.size(0))`: beside tensors a size is one.
    template <std::floating_point T>
    explicit operator T() const {
        return static_cast<T>(static_cast<int64_t>(*this));
    }
    /// Returns the line of the call that gave it.
    SourceLine line() const { return line_; }

  private:
    SourceLine line_;
};

/// A tensor's shape. Elements are Dimensions; where a Shape is wanted it is one.
///
/// Example: after `TensorShape shape = zeros({2, 3}).shape();` `shape` is `[2, 3]`, `shape[1]` is
/// `3`, `zeros(shape).shape()` is `[2, 3]`.
class TensorShape : public Shape {
  public:
    /// `line` is the line of the call that gave it.
    TensorShape(Shape shape, SourceLine line) : Shape(std::move(shape)), line_(line) {}
    /// The size of an axis from the front; `at` throws where there is none, as of a vector.
    /// @{
    Dimension operator[](size_t axis) const { return Dimension(Shape::operator[](axis), line_); }
    Dimension at(size_t axis) const { return Dimension(Shape::at(axis), line_); }
    /// @}

  private:
    SourceLine line_;
};

/// A Dimension with an integer, a Size or another Dimension.
template <class A, class B>
concept DimensionPair = (std::same_as<A, Dimension> &&
                         (std::integral<B> || std::derived_from<B, Size>)) ||
                        (std::same_as<B, Dimension> &&
                         (std::integral<A> || std::derived_from<A, Size>));

/// @cond

inline SourceLine line_of(const Dimension& a, const Size&) { return a.line(); }
template <class A>
SourceLine line_of(const A&, const Dimension& b) {
    return b.line();
}

// `for (int k = 0; k < x.size(0); ++k)`: the size must be known.
template <std::integral T>
auto operator<=>(const Dimension& a, T b) {
    return static_cast<int64_t>(a) <=> static_cast<int64_t>(b);
}

/// @endcond

/// Sums, differences and products of sizes, which may be symbolic.
///
/// Example: `2 * zeros({5}).size(0) - 1` is `9`.
/// @{
template <class A, class B>
requires DimensionPair<A, B> Dimension operator+(const A& a, const B& b) {
    return Dimension(Size(a) + Size(b), line_of(a, b));
}
template <class A, class B>
requires DimensionPair<A, B> Dimension operator-(const A& a, const B& b) {
    return Dimension(Size(a) - Size(b), line_of(a, b));
}
template <class A, class B>
requires DimensionPair<A, B> Dimension operator*(const A& a, const B& b) {
    return Dimension(Size(a) * Size(b), line_of(a, b));
}
/// @}

/// Floor division and its remainder, as for every Size.
///
/// Examples: `zeros({5}).size(0) / 2` is `2`, `zeros({5}).size(0) % 2` is `1`.
/// @{
template <class A, class B>
requires DimensionPair<A, B> Dimension operator/(const A& a, const B& b) {
    return Dimension(floor_div(Size(a), Size(b)), line_of(a, b));
}
template <class A, class B>
requires DimensionPair<A, B> Dimension operator%(const A& a, const B& b) {
    return Dimension(mod(Size(a), Size(b)), line_of(a, b));
}
/// @}

/// Equal forms; two symbols are equal when they are the same.
template <class A, class B>
requires DimensionPair<A, B>
bool operator==(const A& a, const B& b) { return Size(a) == Size(b); }

/// Two sizes compared as numbers: both must be known.
inline bool operator<(const Dimension& a, const Dimension& b) {
    return static_cast<int64_t>(a) < static_cast<int64_t>(b);
}

}  // namespace firn
