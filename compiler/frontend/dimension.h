// The size of one axis as users meet it: a Size that is a C++ integer where it is known.
#pragma once
#include <concepts>
#include <string>

#include "compiler/ir/source_line.h"
#include "compiler/program/error.h"
#include "compiler/program/size.h"

namespace firn {

/// What `x.size(k)` and `x.shape()[k]` give. Used as an integer it must be known: a symbolic one is
/// a UserError with the line that asked for it. Arithmetic with integers and sizes stays symbolic.
class Dimension : public Size {
  public:
    explicit Dimension(const Size& size, SourceLine line = {}) : Size(size), line_(line) {}

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
    /// Only where it is asked for, `float(x.size(0))`: beside tensors it is one.
    template <std::floating_point T>
    explicit operator T() const {
        return static_cast<T>(static_cast<int64_t>(*this));
    }
    SourceLine line() const { return line_; }

  private:
    SourceLine line_;
};

/// A tensor's shape. Elements are Dimensions; where a Shape is wanted it is one.
class TensorShape : public Shape {
  public:
    TensorShape(Shape shape, SourceLine line) : Shape(std::move(shape)), line_(line) {}
    Dimension operator[](size_t axis) const { return Dimension(Shape::operator[](axis), line_); }
    Dimension at(size_t axis) const { return Dimension(Shape::at(axis), line_); }

  private:
    SourceLine line_;
};

/// A Dimension with an integer, a Size or another Dimension.
template <class A, class B>
concept DimensionPair = (std::same_as<A, Dimension> &&
                         (std::integral<B> || std::derived_from<B, Size>)) ||
                        (std::same_as<B, Dimension> &&
                         (std::integral<A> || std::derived_from<A, Size>));

template <class A, class B>
requires DimensionPair<A, B> Size operator+(const A& a, const B& b) { return Size(a) + Size(b); }
template <class A, class B>
requires DimensionPair<A, B> Size operator-(const A& a, const B& b) { return Size(a) - Size(b); }
template <class A, class B>
requires DimensionPair<A, B> Size operator*(const A& a, const B& b) { return Size(a) * Size(b); }
/// Floor division, as for every Size.
template <class A, class B>
requires DimensionPair<A, B> Size operator/(const A& a, const B& b) {
    return floor_div(Size(a), Size(b));
}
template <class A, class B>
requires DimensionPair<A, B> Size operator%(const A& a, const B& b) {
    return mod(Size(a), Size(b));
}
/// Equal forms; two symbols are equal when they are the same.
template <class A, class B>
requires DimensionPair<A, B>
bool operator==(const A& a, const B& b) { return Size(a) == Size(b); }

/// `for (int k = 0; k < x.size(0); ++k)`: the size must be known.
#define FIRN_COMPARE(op)                                           \
    template <std::integral T>                                     \
    bool operator op(T a, const Dimension& b) {                    \
        return static_cast<int64_t>(a) op static_cast<int64_t>(b); \
    }                                                              \
    template <std::integral T>                                     \
    bool operator op(const Dimension& a, T b) {                    \
        return static_cast<int64_t>(a) op static_cast<int64_t>(b); \
    }
FIRN_COMPARE(<)
FIRN_COMPARE(>)
FIRN_COMPARE(<=)
FIRN_COMPARE(>=)
#undef FIRN_COMPARE
/// Two sizes compared as numbers: both must be known.
inline bool operator<(const Dimension& a, const Dimension& b) {
    return static_cast<int64_t>(a) < static_cast<int64_t>(b);
}

}  // namespace firn
