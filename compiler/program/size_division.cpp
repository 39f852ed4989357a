// Floor division, modulo, minimum and maximum of symbolic integers, with their simplifications.
#include <algorithm>
#include <numeric>
#include <optional>

#include "compiler/base/error.h"
#include "compiler/program/size_builder.h"

namespace firn {
namespace {

using Kind = SizeAtom::Kind;

/// `term` divided by `by`, where coefficient and atoms divide exactly.
std::optional<SizeTerm> divide_term(const SizeTerm& term, const SizeTerm& by) {
    if (by.coefficient == 0 || term.coefficient % by.coefficient != 0) return std::nullopt;
    SizeTerm quotient;
    quotient.coefficient = term.coefficient / by.coefficient;
    size_t next = 0;
    for (const SizeAtom& atom : term.atoms) {
        if (next < by.atoms.size() && compare(atom, by.atoms[next]) == 0)
            ++next;
        else
            quotient.atoms.push_back(atom);
    }
    if (next != by.atoms.size()) return std::nullopt;
    return quotient;
}

struct Division {
    Size quotient, rest;  // whole == divisor * quotient + rest
};

/// Moves every term that `by` divides into the quotient; of the constant, its multiple of `by`.
Division divide_terms(const Size& whole, const SizeTerm& by) {
    Division result;
    for (const SizeTerm& term : SizeBuilder::terms(whole)) {
        if (auto quotient = divide_term(term, by))
            result.quotient += SizeBuilder::from(*quotient);
        else
            result.rest += SizeBuilder::from(term);
    }
    int64_t constant = SizeBuilder::constant_term(whole);
    if (by.atoms.empty()) {
        int64_t quotient = apply(Kind::FloorDiv, constant, by.coefficient);
        result.quotient += quotient;
        constant -= quotient * by.coefficient;
    }
    result.rest += constant;
    return result;
}

/// The leading term; the constant term where there is no other.
SizeTerm leading(const Size& size) {
    const auto& terms = SizeBuilder::terms(size);
    return terms.empty() ? SizeTerm{{}, SizeBuilder::constant_term(size)} : terms.front();
}

/// Polynomial long division: the quotient where nothing is left over.
std::optional<Size> divide_exactly(const Size& whole, const Size& by) {
    Size rest = whole, quotient;
    SizeTerm first = leading(by);
    // Every iteration removes the leading monomial, so the remainder sinks in a well-founded order.
    while (!rest.is(0)) {
        auto term = divide_term(leading(rest), first);
        if (!term) return std::nullopt;
        Size part = SizeBuilder::from(*term);
        quotient += part;
        rest = rest - part * by;
    }
    return quotient;
}

/// whole == divisor * quotient + rest with as much in the quotient as the form shows.
Division divide(const Size& whole, const Size& by) {
    const auto& terms = SizeBuilder::terms(by);
    if (terms.empty()) return divide_terms(whole, leading(by));
    if (auto quotient = divide_exactly(whole, by)) return {*quotient, 0};
    if (terms.size() == 1 && SizeBuilder::constant_term(by) == 0)
        return divide_terms(whole, terms[0]);
    return {0, whole};
}

bool inside(const Size& value, const Size& end) {
    return proved_less_equal(0, value) && proved_less_equal(value + 1, end);
}

/// The greatest common divisor of all symbolic coefficients and `start`.
int64_t common_factor(const Size& size, int64_t start) {
    for (const SizeTerm& term : SizeBuilder::terms(size)) start = std::gcd(start, term.coefficient);
    return start;
}

/// (size's symbolic part) / factor + floor(constant / factor).
Size divide_by_factor(const Size& size, int64_t factor) {
    std::vector<SizeTerm> terms = SizeBuilder::terms(size);
    for (SizeTerm& term : terms) term.coefficient /= factor;
    return SizeBuilder::make(std::move(terms),
                             apply(Kind::FloorDiv, SizeBuilder::constant_term(size), factor));
}

/// The only atom, where the size is 1 * atom + constant.
const SizeAtom* single_atom(const Size& size) {
    const auto& terms = SizeBuilder::terms(size);
    if (terms.size() != 1 || terms[0].coefficient != 1 || terms[0].atoms.size() != 1)
        return nullptr;
    return &terms[0].atoms[0];
}

/// floor(rest / divisor) where no term of `rest` is a multiple of `divisor` > 1.
Size divide_rest(Size rest, int64_t divisor) {
    if (rest.is_constant()) return apply(Kind::FloorDiv, rest.constant(), divisor);
    int64_t factor = common_factor(rest, divisor);
    rest = divide_by_factor(rest, factor);
    divisor /= factor;
    if (divisor == 1) return rest;
    int64_t low = apply(Kind::FloorDiv, rest.lower_bound(), divisor);
    if (low == apply(Kind::FloorDiv, rest.upper_bound(), divisor)) return low;
    const SizeAtom* atom = single_atom(rest);
    if (atom && atom->kind == Kind::FloorDiv && atom->args[1].is_constant() &&
        atom->args[1].constant() > 0) {
        int64_t inner = atom->args[1].constant(), shift, both;
        // If the product does not fit, the divisions stay nested.
        if (!__builtin_mul_overflow(SizeBuilder::constant_term(rest), inner, &shift) &&
            !__builtin_mul_overflow(inner, divisor, &both))
            return floor_div(atom->args[0] + shift, both);
    }
    return SizeBuilder::atom(Kind::FloorDiv, rest, divisor);
}

/// Drops terms that do not change the value modulo `divisor`: whole multiples in coefficients, and
/// inner modulos by multiples of `divisor`.
Size reduce_modulo(const Size& size, int64_t divisor) {
    Size result = apply(Kind::Mod, SizeBuilder::constant_term(size), divisor);
    for (const SizeTerm& term : SizeBuilder::terms(size)) {
        Size product = term.coefficient % divisor;
        for (const SizeAtom& atom : term.atoms) {
            bool inner = atom.kind == Kind::Mod && atom.args[1].is_constant() &&
                         atom.args[1].constant() != 0 && atom.args[1].constant() % divisor == 0;
            product *= inner ? atom.args[0] : SizeBuilder::atom(atom);
        }
        result += product;
    }
    return result;
}

/// size modulo divisor > 1.
Size modulo_constant(const Size& size, int64_t divisor) {
    Size rest = size;
    for (Size next = reduce_modulo(rest, divisor); !(next == rest);
         next = reduce_modulo(rest, divisor))
        rest = next;
    if (rest.is_constant()) return rest;
    if (inside(rest, divisor)) return rest;
    int64_t factor = common_factor(rest, divisor);
    if (factor > 1) {
        int64_t low = apply(Kind::Mod, SizeBuilder::constant_term(rest), factor);
        return Size(factor) * mod(divide_by_factor(rest, factor), divisor / factor) + low;
    }
    return SizeBuilder::atom(Kind::Mod, rest, divisor);
}

bool contains(const Size& size, Kind kind, const Size& part) {
    const SizeAtom* atom = single_atom(size);
    return atom && atom->kind == kind && SizeBuilder::constant_term(size) == 0 &&
           (atom->args[0] == part || atom->args[1] == part);
}

Size extremum(Kind kind, const Size& a, const Size& b) {
    bool minimum = kind == Kind::Min;
    if (a.is_constant() && b.is_constant()) return apply(kind, a.constant(), b.constant());
    if (proved_less_equal(a, b)) return minimum ? a : b;
    if (proved_less_equal(b, a)) return minimum ? b : a;
    if (contains(a, kind, b)) return a;
    if (contains(b, kind, a)) return b;
    return a < b ? SizeBuilder::atom(kind, a, b) : SizeBuilder::atom(kind, b, a);
}

}  // namespace

int64_t apply(SizeAtom::Kind kind, int64_t a, int64_t b) {
    switch (kind) {
        case Kind::Symbol: break;
        case Kind::FloorDiv:
            if (b == 0) return 0;
            if (b == -1) return checked_mul(a, -1);
            return a / b - (a % b != 0 && (a < 0) != (b < 0));
        case Kind::Mod: {
            if (b == 0 || b == -1) return 0;
            int64_t rest = a % b;
            return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
        }
        case Kind::Min: return std::min(a, b);
        case Kind::Max: return std::max(a, b);
    }
    throw InternalError("internal error: a symbol has no arguments");
}

Size apply(SizeAtom::Kind kind, const Size& a, const Size& b) {
    switch (kind) {
        case Kind::Symbol: break;
        case Kind::FloorDiv: return floor_div(a, b);
        case Kind::Mod: return mod(a, b);
        case Kind::Min: return min(a, b);
        case Kind::Max: return max(a, b);
    }
    throw InternalError("internal error: a symbol has no arguments");
}

Size floor_div(const Size& a, const Size& b) {
    if (a.is_constant() && b.is_constant())
        return apply(Kind::FloorDiv, a.constant(), b.constant());
    if (b.is(0)) return 0;
    if (b.is(1)) return a;
    if (b.is_constant() && b.constant() < 0) return floor_div(Size(0) - a, Size(0) - b);
    Division parts = divide(a, b);
    if (parts.rest.is(0)) return parts.quotient;
    if (b.is_constant()) return parts.quotient + divide_rest(parts.rest, b.constant());
    if (inside(parts.rest, b)) return parts.quotient;
    return parts.quotient + SizeBuilder::atom(Kind::FloorDiv, parts.rest, b);
}

Size ceil_div(const Size& a, const Size& b) {
    if (b.is_constant() && b.constant() > 0) return floor_div(a + (b - 1), b);
    return Size(0) - floor_div(Size(0) - a, b);
}

Size log2(const Size& n) {
    const Size from_zero = max(n, 0);
    Size halvings = 0;
    for (int64_t power = 2; power <= from_zero.upper_bound(); power *= 2)
        halvings += min(floor_div(from_zero, power), 1);
    // The minimum changes nothing: in further arithmetic the logarithm is one atom instead of 30
    // terms.
    return min(halvings, from_zero);
}

Size mod(const Size& a, const Size& b) {
    if (a.is_constant() && b.is_constant()) return apply(Kind::Mod, a.constant(), b.constant());
    if (b.is(0) || b.is(1) || b.is(-1)) return 0;
    if (b.is_constant() && b.constant() > 0) return modulo_constant(a, b.constant());
    Size rest = divide(a, b).rest;
    if (rest.is(0) || inside(rest, b)) return rest;
    return SizeBuilder::atom(Kind::Mod, rest, b);
}

Size min(const Size& a, const Size& b) { return extremum(Kind::Min, a, b); }
Size max(const Size& a, const Size& b) { return extremum(Kind::Max, a, b); }

}  // namespace firn
