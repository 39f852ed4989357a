// Symbolic integers: the dimensions of tensors, trip counts, dispatch sizes and kernel parameters.
#pragma once
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program/shared_ptr.h"

namespace firn {

struct SizeEnv;  // size_env.h, as the next
struct SizeMap;
struct SizeTerm;

class Size;
Size floor_div(const Size& a, const Size& b);
Size mod(const Size& a, const Size& b);

/// A symbolic integer in canonical form: a sum of coefficient x product of atoms. An atom is a
/// symbol, or a floor division, modulo, minimum or maximum of two sizes. Equal forms compare equal;
/// symbols that start with a letter are dimensions and at least 0. Symbols of equal name are equal.
/// A form that grows beyond what any program needs (thousands of atoms, or a hundred inside one
/// another) is a UserError.
class Size {
  public:
    Size() : Size(int64_t{0}) {}
    template <std::integral T>
    Size(T value) : constant_(static_cast<int64_t>(value)) {}
    static Size symbol(const std::string& name);
    /// A data symbol: a size from 0 to `most` that only the device knows while a program runs. Its
    /// name begins with '?'. `source` keeps alive what computes it, and is no part of its identity.
    static Size data(const std::string& name, const Size& most,
                     SharedPtr<const void> source = nullptr);

    bool is_constant() const { return !terms_; }
    /// The value; throws InternalError when it is symbolic.
    int64_t constant() const;
    bool is(int64_t value) const { return !terms_ && constant_ == value; }

    friend Size operator+(const Size& a, const Size& b);
    friend Size operator-(const Size& a, const Size& b);
    friend Size operator*(const Size& a, const Size& b);
    /// Rounded down, as floor_div; what remains, from 0 on for b above 0. By 0: 0.
    friend Size operator/(const Size& a, const Size& b) { return floor_div(a, b); }
    friend Size operator%(const Size& a, const Size& b) { return mod(a, b); }
    Size& operator+=(const Size& b) { return *this = *this + b; }
    Size& operator*=(const Size& b) { return *this = *this * b; }
    friend bool operator==(const Size& a, const Size& b) { return compare(a, b) == 0; }
    friend bool operator<(const Size& a, const Size& b) { return compare(a, b) < 0; }
    /// A total order on forms (not on values): negative, zero or positive.
    static int compare(const Size& a, const Size& b);

    /// Value under `env`; throws UserError naming a symbol that has no value. x / 0 and x % 0 are
    /// 0.
    int64_t evaluate(const SizeEnv& env) const;
    /// Replaces symbols by sizes; symbols not in the map stay.
    Size substitute(const SizeMap& map) const;
    /// Names of all symbols inside, sorted, each once.
    std::vector<std::string> symbols() const;
    /// Bounds known for every value of the symbols (dimensions are in [0, 2^31 - 1]).
    /// `largest` names symbols whose value is known to be at most that (and at least 0).
    int64_t lower_bound() const;
    int64_t lower_bound(const SizeEnv& largest) const;
    int64_t upper_bound() const;
    int64_t upper_bound(const SizeEnv& largest) const;
    /// The largest m known to divide the value whatever the symbols are (0 for the constant 0).
    int64_t divisor() const;
    /// Symbols, quotients and the like that it is made of; what occurs twice counts twice.
    int atoms() const;
    /// Text such as `2*n*m + floordiv(n, 4) + 1`; parse_size reads it back. A data symbol shows its
    /// largest value:
    /// `?3(n)`.
    std::string text() const;
    size_t hash() const;

  private:
    friend class SizeBuilder;
    int64_t constant_ = 0;                          // the constant term
    SharedPtr<const std::vector<SizeTerm>> terms_;  // sorted, never empty when present
};

struct SizeAtom {
    enum class Kind : uint8_t { Symbol, FloorDiv, Mod, Min, Max };
    Kind kind = Kind::Symbol;
    std::string name;              // Symbol
    std::vector<Size> args;        // the others: two sizes. A data symbol: its largest value
    SharedPtr<const void> source;  // of a data symbol
    int atoms = 1, depth = 1;      // in it, itself counted; what occurs twice counts twice
    bool is_data() const { return kind == Kind::Symbol && !args.empty(); }
};
struct SizeTerm {
    std::vector<SizeAtom> atoms;  // sorted
    int64_t coefficient = 1;
};

using Shape = std::vector<Size>;

Size ceil_div(const Size& a, const Size& b);
Size min(const Size& a, const Size& b);
Size max(const Size& a, const Size& b);
/// The data symbols inside, each once, in the order of their names.
std::vector<SizeAtom> data_symbols(const Size& size);
/// Without data symbols: at least (at most) the value that `size` can have.
Size largest(const Size& size);
Size smallest(const Size& size);
Shape largest(const Shape& shape);
/// True when a <= b for every value of the symbols, as far as the canonical form shows it.
bool proved_less_equal(const Size& a, const Size& b);
/// True when a and b are never the same, as far as the canonical form shows it: they are a constant
/// apart.
bool differ(const Size& a, const Size& b);
/// Reads what Size::text wrote; throws UserError at anything else.
Size parse_size(const std::string& text);

/// The size as constant + sum of coefficient * product, where a product is of symbols, quotients
/// and the like.
struct SizeSum {
    int64_t constant = 0;
    std::vector<std::pair<int64_t, Size>> terms;
};
SizeSum as_sum(const Size& size);
bool mentions(const Size& size, const std::string& symbol);

/// Number of elements.
Size element_count(const Shape& shape);
/// `[n, 4, 3]`.
std::string text(const Shape& shape);
/// The same, and of one size, in a stream.
std::ostream& operator<<(std::ostream& out, const Size& size);
std::ostream& operator<<(std::ostream& out, const Shape& shape);

}  // namespace firn
