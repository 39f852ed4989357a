// Makes random expressions of a given shape over the handles that are in scope.
#pragma once
#include <random>

#include "tests/programs/generate.h"
#include "tests/programs/numbers.h"

namespace firn::programs {

/// A handle in scope, as its declaration and its scopes make it.
struct Variable {
    int handle = -1;
    DType dtype = i32;
    Extents extents;
    size_t depth = 0;
    bool fixed = false;  // never assigned: a counter
    /// It was assigned while some elements of its own scope may be inactive: the values of its
    /// other elements are not defined, so it is read at the element's own place only.
    bool own_place = false;
};

/// An expression with the type that it has.
struct Typed {
    Expr expr;
    DType dtype = i32;
    bool weak = false;       // a C++ number
    bool own_place = false;  // reads a variable of own_place
};

class Dice {
  public:
    explicit Dice(uint64_t seed) : random_(seed) {}
    int below(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
    bool chance(int percent) { return below(100) < percent; }
    template <class T>
    T pick(std::initializer_list<T> list) {
        return *(list.begin() + below(static_cast<int>(list.size())));
    }
    template <class T>
    const T& of(const std::vector<T>& list) {
        return list[static_cast<size_t>(below(static_cast<int>(list.size())))];
    }

  private:
    std::mt19937_64 random_;
};

/// Returns whether `small` broadcasts to `large`: right-aligned, equal or 1.
bool fits(const Extents& small, const Extents& large);

class ExprMaker {
  public:
    ExprMaker(Dice& dice, const std::vector<Variable>& variables)
        : dice_(dice), variables_(variables) {}

    /// Makes a value of exactly this shape. `anywhere`: its uses may read other elements than their
    /// own.
    Typed make(const Extents& extents, int depth, bool anywhere);
    Typed make_as(DType dtype, const Extents& extents, int depth, bool anywhere);
    /// A bool.
    Typed condition(const Extents& extents, int depth, bool anywhere);
    /// An integer that is near the sizes of axes.
    Typed place(const Extents& extents, const Extent& axis, int depth, bool anywhere);
    /// An integer of rank 0 from 0 to `most`.
    Typed count(int most, bool anywhere);
    DType any_dtype();
    /// Sets whether only arithmetic and reads of elements are made, as in a kernel by hand.
    void of_elements(bool alone) { elements_alone_ = alone; }

  private:
    Typed leaf(const Extents& extents, bool anywhere);
    Typed scalar_leaf(bool anywhere);
    Typed part(const Extents& extents, int depth, bool anywhere);
    Typed literal(bool is_float);
    Typed binary(const Extents& extents, int depth, bool anywhere);
    Typed unary(const Extents& extents, int depth, bool anywhere);
    Typed bits(const Extents& extents, int depth, bool anywhere);
    Typed select(const Extents& extents, int depth, bool anywhere);
    Typed moved(const Extents& extents, int depth, bool anywhere);
    Typed joined_parts(const Extents& extents, int depth);
    Typed reduced(const Extents& extents, int depth);
    Typed element(const Extents& extents, int depth, bool anywhere);
    Typed neighbour(const Extents& extents, int depth, bool anywhere);
    const Variable* some(const Extents& extents, bool anywhere);

    Dice& dice_;
    const std::vector<Variable>& variables_;
    bool elements_alone_ = false;
};

Expr literal_of(double value, DType dtype = i32);
Expr handle_of(int handle);
Expr apply_of(Fn fn, std::vector<Expr> args);
Typed cast_of(Typed x, DType dtype);
Typed applied(Fn fn, std::vector<Typed> operands);

}  // namespace firn::programs
