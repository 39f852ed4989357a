// Bounds and divisors of a symbolic integer, for every value of its symbols.
#include <algorithm>
#include <numeric>
#include <optional>

#include "compiler/base/error.h"
#include "compiler/program/interval.h"
#include "compiler/program/size_builder.h"

namespace firn {
namespace {

using Kind = SizeAtom::Kind;

/// Quotients by more are not opened: the products would leave 64 bits.
constexpr int64_t kLargestScale = 1 << 16;

Interval bounds(const Size& size, const SizeEnv& largest = {});

Interval bounds(const SizeAtom& atom, const SizeEnv& largest) {
    if (atom.kind == Kind::Symbol) {
        if (auto it = largest.find(atom.name); it != largest.end()) return {0, it->second};
        if (atom.is_data())
            return {0, std::min<int64_t>(bounds(atom.args[0], largest).hi, INT32_MAX)};
        return {atom.name[0] == '$' ? INT32_MIN : 0, INT32_MAX};
    }
    const Interval a = bounds(atom.args[0], largest), b = bounds(atom.args[1], largest);
    switch (atom.kind) {
        case Kind::Symbol: break;
        case Kind::FloorDiv: return floor_div(a, b);
        case Kind::Mod: return mod(a, b);
        case Kind::Min: return min(a, b);
        case Kind::Max: return max(a, b);
    }
    throw InternalError("internal error: unknown kind of size atom");
}

Interval bounds(const Size& size, const SizeEnv& largest) {
    Interval total{SizeBuilder::constant_term(size), SizeBuilder::constant_term(size)};
    for (const SizeTerm& term : SizeBuilder::terms(size)) {
        Interval part{term.coefficient, term.coefficient};
        for (const SizeAtom& atom : term.atoms) part = part * bounds(atom, largest);
        total = total + part;
    }
    return total;
}

/// Rewrites k*c * floordiv(a, c) as k * (a - mod(a, c)), or the reverse; floordiv(a, c*d) with a
/// factor k*c likewise with floordiv(a, d). Returns nothing if the size has no such term.
std::optional<Size> rewritten(const Size& size, Kind from) {
    Size result = SizeBuilder::constant_term(size);
    std::vector<SizeTerm> kept;
    bool found = false;
    for (const SizeTerm& term : SizeBuilder::terms(size)) {
        const SizeAtom& atom = term.atoms[0];
        bool fits = term.atoms.size() == 1 && atom.kind == from && atom.args[1].is_constant() &&
                    atom.args[1].constant() > 1;
        const int64_t divisor = fits ? atom.args[1].constant() : 1;
        const int64_t common =
            from == Kind::FloorDiv ? std::gcd(term.coefficient, divisor) : divisor;
        fits &= common > 1;
        found |= fits;
        if (!fits) {
            kept.push_back(term);
        } else if (from == Kind::FloorDiv) {
            const Size inner = floor_div(atom.args[0], divisor / common);
            result += Size(term.coefficient / common) *
                      (inner - SizeBuilder::atom(Kind::Mod, inner, common));
        } else {
            result += Size(term.coefficient) *
                      (atom.args[0] -
                       Size(divisor) * SizeBuilder::atom(Kind::FloorDiv, atom.args[0], divisor));
        }
    }
    if (!found) return std::nullopt;
    return result + SizeBuilder::make(std::move(kept), 0);
}

/// The term that is a multiple of one minimum or maximum, and the remaining terms of the size.
struct Extremum {
    SizeTerm term;
    Size rest;
};
std::optional<Extremum> find_extremum(const Size& size) {
    const auto& terms = SizeBuilder::terms(size);
    for (const SizeTerm& term : terms)
        if (term.atoms.size() == 1 &&
            (term.atoms[0].kind == Kind::Min || term.atoms[0].kind == Kind::Max))
            return Extremum{term, size - SizeBuilder::from(term)};
    return std::nullopt;
}

/// The best lower bound found; `budget` limits how many minima and maxima are opened.
int64_t lower(const Size& size, int budget, const SizeEnv& largest = {}) {
    int64_t best = bounds(size, largest).lo;
    if (budget == 0 || size.is_constant()) return best;
    if (auto other = rewritten(size, Kind::FloorDiv))
        best = std::max(best, bounds(*other, largest).lo);
    auto extremum = find_extremum(size);
    if (!extremum) return best;
    const SizeAtom& atom = extremum->term.atoms[0];
    Size factor = extremum->term.coefficient;
    int64_t first = lower(extremum->rest + factor * atom.args[0], budget - 1, largest);
    int64_t second = lower(extremum->rest + factor * atom.args[1], budget - 1, largest);
    // factor * min(a, b) is the smaller of two products when factor > 0, the greater otherwise.
    bool smaller = (atom.kind == Kind::Min) == (extremum->term.coefficient > 0);
    return std::max(best, smaller ? std::min(first, second) : std::max(first, second));
}

constexpr int kOpenedExtrema = 4;

/// Products of its coefficients with others that leave room stay inside 64 bits.
bool leaves_room(const Size& size) {
    constexpr int64_t kRoom = int64_t{1} << 28;
    const auto small = [](int64_t value) { return value < kRoom && value > -kRoom; };
    const auto& terms = SizeBuilder::terms(size);
    return small(SizeBuilder::constant_term(size)) &&
           std::all_of(terms.begin(), terms.end(),
                       [&](const SizeTerm& term) { return small(term.coefficient); });
}

/// A size that is at most `by` times as large, without the first quotient by a constant:
/// floordiv(a, by) lies between (a - by + 1) / by and a / by.
struct Scaled {
    Size size;
    int64_t by = 1;
};
std::optional<Scaled> without_quotient(const Size& size) {
    for (const SizeTerm& term : SizeBuilder::terms(size)) {
        const SizeAtom& atom = term.atoms[0];
        if (term.atoms.size() != 1 || atom.kind != Kind::FloorDiv || !atom.args[1].is_constant())
            continue;
        const int64_t by = atom.args[1].constant();
        if (by < 2 || by > kLargestScale || !leaves_room(size) || !leaves_room(atom.args[0]))
            continue;
        const Size least = term.coefficient < 0 ? atom.args[0] : atom.args[0] - Size(by - 1);
        return Scaled{(size - SizeBuilder::from(term)) * Size(by) + Size(term.coefficient) * least,
                      by};
    }
    return std::nullopt;
}

int64_t atom_divisor(const SizeAtom& atom) {
    if (atom.kind == Kind::Symbol) return 1;
    int64_t a = atom.args[0].divisor(), b = atom.args[1].divisor();
    if (atom.kind != Kind::FloorDiv) return std::gcd(a, b);
    if (!atom.args[1].is_constant()) return 1;
    int64_t by = atom.args[1].constant();
    return by > 0 && a % by == 0 ? a / by : 1;
}

int64_t terms_divisor(const Size& size) {
    int64_t common = SizeBuilder::constant_term(size);
    for (const SizeTerm& term : SizeBuilder::terms(size)) {
        int64_t part = term.coefficient;
        for (const SizeAtom& atom : term.atoms) {
            int64_t grown;
            // A part of a divisor divides too, so a product that does not fit is left out.
            if (!__builtin_mul_overflow(part, atom_divisor(atom), &grown)) part = grown;
        }
        common = std::gcd(common, part);
    }
    return common;
}

}  // namespace

int64_t Size::lower_bound() const { return lower_bound(SizeEnv{}); }

int64_t Size::lower_bound(const SizeEnv& largest) const {
    const int64_t best = lower(*this, kOpenedExtrema, largest);
    if (best >= 0) return best;  // callers mostly ask whether it can be negative
    const auto scaled = without_quotient(*this);
    if (!scaled) return best;
    const int64_t least = scaled->size.lower_bound(largest);
    return least == INT64_MIN ? best : std::max(best, -apply(Kind::FloorDiv, -least, scaled->by));
}

int64_t Size::upper_bound() const { return upper_bound(SizeEnv{}); }

int64_t Size::upper_bound(const SizeEnv& largest) const {
    if (is_constant()) return constant_;
    int64_t negated = lower(Size(0) - *this, kOpenedExtrema, largest);
    return negated == INT64_MIN ? INT64_MAX : -negated;
}

int64_t Size::divisor() const {
    int64_t divisor = terms_divisor(*this);
    if (auto other = rewritten(*this, Kind::Mod))
        divisor = std::max(divisor, terms_divisor(*other));
    return divisor;
}

bool differ(const Size& a, const Size& b) { return (a - b).is_constant() && !(a == b); }

bool proved_less_equal(const Size& a, const Size& b) {
    if (a.is_constant() && b.is_constant()) return a.constant() <= b.constant();
    const Size distance = b - a;
    return distance.lower_bound() >= 0 ||
           (!data_symbols(distance).empty() && smallest(distance).lower_bound() >= 0);
}

}  // namespace firn
