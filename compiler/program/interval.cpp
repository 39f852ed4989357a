// Bounds of an integer (an interval) and its congruence modulo another.
#include "compiler/program/interval.h"

#include <algorithm>
#include <utility>

namespace firn {
namespace {

using Wide = __int128;  // holds every sum and product of two numbers of 64 bits

int64_t saturated(Wide value) {
    return static_cast<int64_t>(std::clamp<Wide>(value, INT64_MIN, INT64_MAX));
}

/// Adds two ends; if one is `nothing` (unbounded), so is the sum.
int64_t sum(int64_t a, int64_t b, int64_t nothing) {
    return a == nothing || b == nothing ? nothing : saturated(Wide{a} + b);
}

int64_t product(int64_t a, int64_t b) { return saturated(Wide{a} * b); }

int64_t quotient(int64_t a, int64_t by) { return a / by - (a % by < 0); }

Wide magnitude(Wide value) { return value < 0 ? -value : value; }

Wide common_divisor(Wide a, Wide b) {
    while (b != 0) a = std::exchange(b, a % b);
    return magnitude(a);
}

/// A divisor of a modulus that leaves 64 bits is one, too.
Congruence congruence(Wide mod, Wide rem) {
    if (mod > INT64_MAX) mod = common_divisor(mod, Wide{1} << 32);
    if (mod > 0) rem = (rem % mod + mod) % mod;
    if (rem != saturated(rem)) return {};
    return {static_cast<int64_t>(mod), static_cast<int64_t>(rem)};
}

}  // namespace

Interval operator+(const Interval& a, const Interval& b) {
    return {sum(a.lo, b.lo, INT64_MIN), sum(a.hi, b.hi, INT64_MAX)};
}

Interval operator-(const Interval& a) { return {product(a.hi, -1), product(a.lo, -1)}; }

Interval operator-(const Interval& a, const Interval& b) { return a + -b; }

Interval operator*(const Interval& a, const Interval& b) {
    const auto [lo, hi] = std::minmax(
        {product(a.lo, b.lo), product(a.lo, b.hi), product(a.hi, b.lo), product(a.hi, b.hi)});
    return {lo, hi};
}

Interval min(const Interval& a, const Interval& b) {
    return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
}

Interval max(const Interval& a, const Interval& b) {
    return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Interval join(const Interval& a, const Interval& b) {
    return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Interval floor_div(const Interval& a, const Interval& b) {
    if (b.lo < 0) return join(a, -a);
    if (b.hi == 0) return {0, 0};
    const int64_t least = std::max<int64_t>(b.lo, 1);
    const Interval out{std::min(quotient(a.lo, least), quotient(a.lo, b.hi)),
                       std::max(quotient(a.hi, least), quotient(a.hi, b.hi))};
    return b.lo == 0 ? join(out, {0, 0}) : out;
}

Interval mod(const Interval& a, const Interval& b) {
    if (b.lo < 0) return {b.lo, std::max<int64_t>(b.hi, 0)};
    const int64_t most = std::max<int64_t>(b.hi - 1, 0);
    return {0, a.lo >= 0 ? std::min(a.hi, most) : most};
}

bool contains(const Congruence& a, int64_t value) {
    return a.mod == 0 ? value == a.rem : (Wide{value} - a.rem) % a.mod == 0;
}

Congruence operator+(const Congruence& a, const Congruence& b) {
    return congruence(common_divisor(a.mod, b.mod), Wide{a.rem} + b.rem);
}

Congruence operator*(const Congruence& a, const Congruence& b) {
    // (m1 x + r1)(m2 y + r2) = r1 r2 modulo gcd(m1 m2, m1 r2, m2 r1)
    const Wide both = common_divisor(Wide{a.mod} * b.mod, Wide{a.mod} * b.rem);
    return congruence(common_divisor(both, Wide{b.mod} * a.rem), Wide{a.rem} * b.rem);
}

Congruence join(const Congruence& a, const Congruence& b) {
    return congruence(common_divisor(common_divisor(a.mod, b.mod), Wide{a.rem} - b.rem), a.rem);
}

Congruence wrapped(const Congruence& a) {
    return congruence(common_divisor(a.mod, Wide{1} << 32), a.rem);
}

int64_t remainder(const Congruence& a, int64_t by) {
    return a.mod % by == 0 ? (a.rem % by + by) % by : -1;
}

}  // namespace firn
