// Sums that are indices of bands.
#include "compiler/mapping/list/band_sums.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

namespace firn {
namespace {

bool is_power(int64_t value) { return value > 0 && std::has_single_bit(uint64_t(value)); }

/// Returns a sum of only these atoms.
bool is_made_of(const BandSum& s, std::initializer_list<BandAtom> atoms) {
    return std::all_of(s.terms.begin(), s.terms.end(), [&](const auto& term) {
        return std::find(atoms.begin(), atoms.end(), term.first) != atoms.end();
    });
}

/// Returns w of w * 2^exponent, a power of two; 0: it is no such distance.
int64_t distance_of(const BandSum& s) {
    if (s.offset != 0 || !is_made_of(s, {kFar})) return 0;
    const int64_t times = coefficient_of(s, kFar);
    return is_power(times) ? times : 0;
}

std::optional<BandSum> product(const BandSum& a, const BandSum& b) {
    if (is_number(a)) return scaled(b, a.offset);
    if (is_number(b)) return scaled(a, b.offset);
    for (const auto& [x, y] : {std::pair(&a, &b), std::pair(&b, &a)}) {
        const int64_t times = coefficient_of(*x, kFar);
        if (x->offset != 0 || !is_made_of(*x, {kFar}) || !is_made_of(*y, {kHigh})) continue;
        return plus(atom(kHighFar, times * coefficient_of(*y, kHigh)),
                    atom(kFar, times * y->offset), 1);
    }
    return std::nullopt;
}

/// Returns w if 2^s is w * 2^exponent, else 0.
int64_t power_of(const BandSum& s) {
    const bool is_exponent = is_made_of(s, {kExponent}) && coefficient_of(s, kExponent) == 1;
    return is_exponent && s.offset >= 0 && s.offset < 31 ? int64_t(1) << s.offset : 0;
}

std::optional<BandSum> shifted(const BandSum& a, const BandSum& by) {
    if (is_number(by)) {
        if (by.offset < 0 || by.offset > 30) return std::nullopt;
        return scaled(a, int64_t(1) << by.offset);
    }
    const bool is_exponent = is_made_of(by, {kExponent}) && coefficient_of(by, kExponent) == 1;
    if (!is_exponent || !is_made_of(a, {kHigh}) || std::abs(by.offset) > 30) return std::nullopt;
    int64_t high = coefficient_of(a, kHigh), one = a.offset;
    const int64_t times = int64_t(1) << std::abs(by.offset);
    if (by.offset < 0 && (high % times != 0 || one % times != 0)) return std::nullopt;
    high = by.offset < 0 ? high / times : high * times;
    one = by.offset < 0 ? one / times : one * times;
    return plus(atom(kHighFar, high), atom(kFar, one), 1);
}

}  // namespace

/// Returns the sum as a Size if all its terms are parameters that the host computes.
std::optional<Size> BandAlgebra::size_of(const BandSum& s) const {
    Size out(s.offset);
    for (const auto& [atom, times] : s.terms) {
        const auto* id = std::get_if<NodeId>(&atom);
        const auto* param = id ? b_.node(*id).get_if<ParamAttr>() : nullptr;
        if (!param) return std::nullopt;
        const ParamInfo& p = b_.code().params[static_cast<size_t>(param->param)];
        if (p.scalar >= 0) return std::nullopt;
        out += p.size * Size(times);
    }
    return out;
}

/// Returns an upper bound (exclusive) of an index along the axis, or of a part of it; nothing if it
/// may be negative or is no such index.
std::optional<Size> BandAlgebra::limit_of(const BandSum& s) const {
    const int64_t high = coefficient_of(s, kHighFar), far = coefficient_of(s, kFar),
                  low = coefficient_of(s, kLow);
    if (!is_made_of(s, {kHighFar, kFar, kLow}) || s.offset != 0 || low < 0 || low > 1 || far < 0 ||
        high < 0 || high % points_ != 0 || far >= (high ? high : points_))
        return std::nullopt;
    const Size limit = extent_ * Size(high ? high / points_ : 1);
    if (limit.upper_bound(b_.symbol_facts().largest) > int64_t(INT32_MAX) + 1) return std::nullopt;
    return limit;
}

/// Applies the operations that keep an index apart in high, far and low. Returns nothing for
/// others, which are then computed.
std::optional<BandSum> BandAlgebra::combined(KernelOp op, const BandSum& a,
                                             const BandSum& b) const {
    switch (op) {
        case KernelOp::Add: return plus(a, b, 1);
        case KernelOp::Sub: return plus(a, b, -1);
        case KernelOp::Mul: return product(a, b);
        case KernelOp::ShiftLeft: return shifted(a, b);
        case KernelOp::Div:
            if (is_number(b)) return parts(a, b.offset).first;
            return quotient(a, distance_of(b));
        case KernelOp::Mod:
            if (is_number(b)) return parts(a, b.offset).second;
            return remainder(a, distance_of(b));
        case KernelOp::ShiftRight: return quotient(a, power_of(b));
        case KernelOp::And:
            if (const auto masked = bits_of(a, b)) return masked;
            return bits_of(b, a);
        case KernelOp::Xor:
        case KernelOp::Or:
            if (are_apart(a, b) || are_apart(b, a)) return plus(a, b, 1);
            if (const auto changed = bit_changed(op, a, b)) return changed;
            return bit_changed(op, b, a);
        case KernelOp::Min:
            if (stays_below(a, b, 1)) return a;
            if (stays_below(b, a, 1)) return b;
            return std::nullopt;
        case KernelOp::Max:
            if (is_number(a) && a.offset <= 0 && limit_of(b)) return b;
            if (is_number(b) && b.offset <= 0 && limit_of(a)) return a;
            return std::nullopt;
        default: return std::nullopt;
    }
}

/// Divides by a number if the quotient and the remainder are each a part of the sum.
std::pair<std::optional<BandSum>, std::optional<BandSum>> BandAlgebra::parts(const BandSum& a,
                                                                             int64_t by) const {
    if (a.offset < 0 || by <= 0) return {};
    BandSum whole = number(a.offset / by), rest = number(a.offset % by);
    Interval between{rest.offset, rest.offset};
    for (const auto& [part, times] : a.terms) {
        const bool divides = times % by == 0;
        if (divides)
            whole = plus(whole, atom(part), times / by);
        else
            rest = plus(rest, atom(part), times);
        const auto* id = std::get_if<NodeId>(&part);
        const Interval own = id ? b_.node(*id).interval : Interval{0, INT32_MAX};
        if (times < 0 || own.lo < 0) return {};
        if (!divides) between = between + own * Interval{times, times};
    }
    if (!contains({0, by - 1}, between)) return {};
    return {whole, rest};
}

/// a / (w 2^exponent).
std::optional<BandSum> BandAlgebra::quotient(const BandSum& a, int64_t w) const {
    const int64_t high = coefficient_of(a, kHighFar), far = coefficient_of(a, kFar);
    if (w == 0 || !limit_of(a) || high % w != 0) return std::nullopt;
    return plus(atom(kHigh, high / w), number(far / w), 1);
}

std::optional<BandSum> BandAlgebra::remainder(const BandSum& a, int64_t w) const {
    if (w == 0 || !limit_of(a) || coefficient_of(a, kHighFar) % w != 0) return std::nullopt;
    return plus(atom(kFar, coefficient_of(a, kFar) % w), atom(kLow, coefficient_of(a, kLow)), 1);
}

/// Masks the bit of w 2^exponent, or the bits below it.
std::optional<BandSum> BandAlgebra::bits_of(const BandSum& a, const BandSum& mask) const {
    const BandSum above = plus(mask, number(1), 1);
    if (const int64_t w = distance_of(above)) return remainder(a, w);
    const int64_t w = distance_of(mask);
    if (w == 0 || !limit_of(a) || coefficient_of(a, kHighFar) % (2 * w) != 0) return std::nullopt;
    return atom(kFar, coefficient_of(a, kFar) & w);
}

/// Returns whether a is a multiple of a power of two that b stays below.
bool BandAlgebra::are_apart(const BandSum& a, const BandSum& b) const {
    const int64_t high = coefficient_of(a, kHighFar), far = coefficient_of(a, kFar);
    const int64_t bits = high | far, least = bits & -bits;  // of 2^exponent
    return limit_of(a) && limit_of(b) && coefficient_of(a, kLow) == 0 &&
           coefficient_of(b, kHighFar) == 0 && coefficient_of(b, kFar) < least;
}

std::optional<BandSum> BandAlgebra::bit_changed(KernelOp op, const BandSum& a,
                                                const BandSum& bit) const {
    const int64_t w = distance_of(bit), far = coefficient_of(a, kFar);
    if (w == 0 || !limit_of(a) || coefficient_of(a, kHighFar) % (2 * w) != 0) return std::nullopt;
    return plus(a, atom(kFar, (op == KernelOp::Xor ? far ^ w : far | w) - far), 1);
}

/// Returns whether a + 1 - less <= the size b.
bool BandAlgebra::stays_below(const BandSum& a, const BandSum& b, int64_t less) const {
    const auto limit = limit_of(a);
    const auto bound = is_number(b) ? Size(b.offset) : size_of(b);
    return limit && bound && proved_less_equal(*limit - Size(less), *bound);
}

/// Returns the result of a comparison where it is known.
std::optional<bool> BandAlgebra::compared(KernelOp op, const BandSum& a, const BandSum& b) const {
    const BandSum between = plus(a, b, -1);  // 2^exponent is at least 1
    // other sums may have wrapped around
    const bool exact = (is_number(a) && is_number(b)) || (limit_of(a) && limit_of(b));
    if (exact && (is_number(between) || (between.offset == 0 && is_made_of(between, {kFar})))) {
        const int64_t sign = is_number(between) ? between.offset : coefficient_of(between, kFar);
        switch (op) {
            case KernelOp::Less: return sign < 0;
            case KernelOp::LessEqual: return sign <= 0;
            case KernelOp::Equal: return sign == 0;
            default: return sign != 0;
        }
    }
    if (op == KernelOp::Less && stays_below(a, b, 0)) return true;
    if (op == KernelOp::LessEqual && stays_below(a, b, 1)) return true;
    if (op == KernelOp::LessEqual && is_number(a) && a.offset <= 0 && limit_of(b)) return true;
    return std::nullopt;
}

}  // namespace firn
