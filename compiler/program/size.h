// Symbolic integers: the dimensions of tensors, trip counts, dispatch sizes and kernel parameters.
#pragma once
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/shared_ptr.h"

namespace firn {

struct SizeEnv;  // size_env.h, as the next
struct SizeMap;
struct SizeTerm;

class Size;
/// a / b rounded down, simplified; by 0 it is 0.
///
/// Examples: `floor_div(-7, 2)` is `-4`, `floor_div(4 * Size::symbol("n") + 2, 4).text()` is `"n"`.
Size floor_div(const Size& a, const Size& b);
/// The remainder of floor_div, with the sign of b, simplified; by 0 it is 0.
///
/// Examples: `mod(-7, 2)` is `1`, `mod(4 * Size::symbol("n") + 3, 4)` is `3`.
Size mod(const Size& a, const Size& b);

/// A symbolic integer in canonical form: a sum of coefficient x product of atoms. An atom is a
/// symbol, or a floor division, modulo, minimum or maximum of two sizes. Equal forms compare equal;
/// symbols that start with a letter are dimensions and at least 0. Symbols of equal name are equal.
/// A form that grows beyond the needs of any program (thousands of atoms, or a hundred nested ones)
/// is a UserError, and so is a coefficient beyond 64 bits.
///
/// Example: after `Size n = Size::symbol("n"), m = Size::symbol("m");` `(n + 2 + m + n - 1).text()`
/// is `"m + 2*n + 1"`, `n * m == m * n` is `true`, `n == m` is `false`.
class Size {
  public:
    /// 0.
    Size() : Size(int64_t{0}) {}
    /// A number.
    template <std::integral T>
    Size(T value) : constant_(static_cast<int64_t>(value)) {}
    /// A symbol. Its name begins with a letter and goes on with letters, digits or `_`; else it is
    /// a UserError.
    static Size symbol(const std::string& name);
    /// A data symbol: a size from 0 to `most` that only the device knows while a program runs. Its
    /// name begins with '?'. `source` keeps its computation alive, and is no part of its identity.
    static Size data(const std::string& name, const Size& most,
                     SharedPtr<const void> source = nullptr);

    /// Returns whether it is a number, without symbols.
    bool is_constant() const { return !terms_; }
    /// The value; throws InternalError when it is symbolic.
    int64_t constant() const;
    /// Returns whether it is this number.
    bool is(int64_t value) const { return !terms_ && constant_ == value; }

    /// Arithmetic; results are in canonical form, and a number beyond 64 bits is a UserError.
    /// @{
    friend Size operator+(const Size& a, const Size& b);
    friend Size operator-(const Size& a, const Size& b);
    friend Size operator*(const Size& a, const Size& b);
    /// @}

    /// Quotient rounded down, as floor_div, and its remainder, which is not negative for b > 0.
    /// Division by 0 gives 0 for both.
    /// @{
    friend Size operator/(const Size& a, const Size& b) { return floor_div(a, b); }
    friend Size operator%(const Size& a, const Size& b) { return mod(a, b); }
    /// @}

    /// Adds to it, or multiplies it.
    /// @{
    Size& operator+=(const Size& b) { return *this = *this + b; }
    Size& operator*=(const Size& b) { return *this = *this * b; }
    /// @}

    /// Comparisons of forms, not of values: `<` orders them for containers.
    /// @{
    friend bool operator==(const Size& a, const Size& b) { return compare(a, b) == 0; }
    friend bool operator<(const Size& a, const Size& b) { return compare(a, b) < 0; }
    /// @}

    /// A total order on forms (not on values): negative, zero or positive.
    static int compare(const Size& a, const Size& b);

    /// Value under `env`; throws UserError naming a symbol that has no value. x / 0 and x % 0 are
    /// 0.
    int64_t evaluate(const SizeEnv& env) const;
    /// Replaces symbols by sizes; symbols not in the map stay.
    Size substitute(const SizeMap& map) const;
    /// Names of all symbols inside, sorted, each once.
    std::vector<std::string> symbols() const;
    /// Returns bounds for every value of the symbols (dimensions are in [0, 2^31 - 1]).
    /// `largest` names symbols whose value is known to be at most that (and at least 0).
    /// @{
    int64_t lower_bound() const;
    int64_t lower_bound(const SizeEnv& largest) const;
    int64_t upper_bound() const;
    int64_t upper_bound(const SizeEnv& largest) const;
    /// @}

    /// The largest m known to divide the value for all values of the symbols (0 for the constant
    /// 0).
    int64_t divisor() const;
    /// Returns the number of symbols, quotients and the like in it; repeated ones count each time.
    int atoms() const;
    /// Text such as `2*m*n + floordiv(n, 4) + 1`; parse_size reads it back. A data symbol shows its
    /// largest value: `?3(n)`.
    std::string text() const;
    /// A hash of the form: equal sizes have equal ones.
    size_t hash() const;

  private:
    friend class SizeBuilder;
    int64_t constant_ = 0;                          // the constant term
    SharedPtr<const std::vector<SizeTerm>> terms_;  // sorted, never empty when present
};

/// @cond

/// A factor of a product; see Size.
struct SizeAtom {
    enum class Kind : uint8_t { Symbol, FloorDiv, Mod, Min, Max };
    Kind kind = Kind::Symbol;
    std::string name;              // Symbol
    std::vector<Size> args;        // the others: two sizes. A data symbol: its largest value
    SharedPtr<const void> source;  // of a data symbol
    int atoms = 1, depth = 1;      // in it, itself included; repeated ones count each time
    /// Returns whether it is a data symbol.
    bool is_data() const { return kind == Kind::Symbol && !args.empty(); }
};
/// coefficient x product of atoms.
struct SizeTerm {
    std::vector<SizeAtom> atoms;  // sorted
    int64_t coefficient = 1;
};

/// @endcond

/// The sizes of a tensor's axes, the slowest first; without axes that of a number.
using Shape = std::vector<Size>;

/// a / b rounded up, simplified; by 0 it is 0.
///
/// Examples: `ceil_div(10, 4)` is `3`, `ceil_div(Size::symbol("n"), 64).text()` is
/// `"floordiv(n + 63, 64)"`.
Size ceil_div(const Size& a, const Size& b);
/// The smaller (larger) of two sizes; one of them where it is known which.
///
/// Example: after `Size n = Size::symbol("n"), m = Size::symbol("m");` `min(n, n + 3).text()` is
/// `"n"`, `max(n, m).text()` is `"max(m, n)"`.
/// @{
Size min(const Size& a, const Size& b);
Size max(const Size& a, const Size& b);
/// @}
/// The largest k with 2^k <= n, and 0 for n below 2: how often n halves until it is 1.
///
/// Examples: `log2(Size(9))` is `3`, `log2(Size(0))` is `0`, `log2(zeros({5, 2}).size(0))` is `2`.
Size log2(const Size& n);

/// @cond

/// The data symbols inside, each once, in the order of their names.
std::vector<SizeAtom> data_symbols(const Size& size);
/// Return a size without data symbols that is at least (at most) the value of `size`.
/// @{
Size largest(const Size& size);
Size smallest(const Size& size);
Shape largest(const Shape& shape);
/// @}

/// True when a <= b for every value of the symbols, as far as the canonical form shows it.
bool proved_less_equal(const Size& a, const Size& b);
/// True when a and b are never the same, as far as the canonical form shows it: they are a constant
/// apart.
bool differ(const Size& a, const Size& b);

/// @endcond

/// Parses a text of Size::text; UserError for any other.
///
/// Example: `parse_size("2*n + floordiv(n, 4)").text()` is `"2*n + floordiv(n, 4)"`.
Size parse_size(const std::string& text);

/// @cond

/// The size as constant + sum of coefficient * product, where a product is of symbols, quotients
/// and the like.
struct SizeSum {
    int64_t constant = 0;
    std::vector<std::pair<int64_t, Size>> terms;
};
/// See SizeSum.
SizeSum as_sum(const Size& size);
/// Returns whether the symbol of this name is somewhere inside.
bool mentions(const Size& size, const std::string& symbol);

/// @endcond

/// Number of elements: the product of the sizes, and 1 without axes.
///
/// Examples: `element_count({2, 3})` is `6`, `element_count(Shape())` is `1`.
Size element_count(const Shape& shape);
/// The sizes in brackets.
///
/// Example: `text(Shape{Size::symbol("n"), 4})` is `"[n, 4]"`.
std::string text(const Shape& shape);
/// The text of a size or shape, in a stream.
/// @{
std::ostream& operator<<(std::ostream& out, const Size& size);
std::ostream& operator<<(std::ostream& out, const Shape& shape);
/// @}

}  // namespace firn
