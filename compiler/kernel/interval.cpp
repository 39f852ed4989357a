// Bounds and congruences of integer nodes, from those of their operands.
#include "compiler/kernel/interval.h"

#include <algorithm>
#include <numeric>

namespace firn {
namespace {

Interval sum(const Interval& a, const Interval& b) {
    const int64_t m = std::gcd(a.mod, b.mod);
    return {a.lo + b.lo, a.hi + b.hi, m,
            m > 1    ? ((a.rem + b.rem) % m + m) % m
            : m == 0 ? a.rem + b.rem
                     : 0};
}

Interval product(const Interval& a, const Interval& b) {
    const int64_t ends[] = {a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi};
    Interval out;
    out.lo = *std::min_element(ends, ends + 4), out.hi = *std::max_element(ends, ends + 4);
    // (m1 x + r1)(m2 y + r2) = r1 r2 modulo gcd(m1 m2, m1 r2, m2 r1)
    const int64_t m = std::gcd(std::gcd(a.mod * b.mod, a.mod * b.rem), b.mod * a.rem);
    out.mod = m > (1 << 20) ? std::gcd<int64_t>(m, 1 << 20) : m;
    out.rem = out.mod > 0 ? ((a.rem * b.rem) % out.mod + out.mod) % out.mod : a.rem * b.rem;
    return out;
}

/// The smaller or the larger of the two.
Interval one_of(KernelOp op, const Interval& a, const Interval& b) {
    const bool least = op == KernelOp::Min;
    Interval out;
    out.lo = least ? std::min(a.lo, b.lo) : std::max(a.lo, b.lo);
    out.hi = least ? std::min(a.hi, b.hi) : std::max(a.hi, b.hi);
    out.mod = std::gcd(std::gcd(a.mod, b.mod), a.rem - b.rem);
    out.rem = out.mod > 0 ? (a.rem % out.mod + out.mod) % out.mod : a.rem;
    return out;
}

/// As if integers had no end.
Interval unwrapped(const KernelCode& code, const KernelNode& n) {
    auto of = [&](int k) -> const Interval& { return code.nodes[n.args[k]].interval; };
    Interval out;
    switch (n.op) {
        case KernelOp::Add: return sum(of(0), of(1));
        case KernelOp::Mul: return product(of(0), of(1));
        case KernelOp::Min:
        case KernelOp::Max: return one_of(n.op, of(0), of(1));
        case KernelOp::Select:
            out.lo = std::min(of(1).lo, of(2).lo), out.hi = std::max(of(1).hi, of(2).hi);
            break;
        case KernelOp::Div:
            if (of(0).lo >= 0 && of(1).lo >= 1)
                out.lo = of(0).lo / of(1).hi, out.hi = of(0).hi / of(1).lo;
            break;
        case KernelOp::Mod:
            if (of(0).lo >= 0 && of(1).lo >= 1)
                out.lo = 0, out.hi = std::min(of(0).hi, of(1).hi - 1);
            break;
        case KernelOp::And:
            if (of(0).lo >= 0 && of(1).lo >= 0) out.lo = 0, out.hi = std::min(of(0).hi, of(1).hi);
            break;
        case KernelOp::ShiftRight:
            if (of(0).lo >= 0) out.lo = 0, out.hi = of(0).hi;
            break;
        case KernelOp::Cast:
            if (code.nodes[n.args[0]].dtype.is_bool()) out.lo = 0, out.hi = 1;
            break;
        default: break;
    }
    return out;
}

}  // namespace

Interval interval_of(const KernelCode& code, const KernelNode& n) {
    Interval out = unwrapped(code, n);
    if (out.lo < INT32_MIN || out.hi > INT32_MAX) {
        out.lo = INT32_MIN, out.hi = INT32_MAX;
        // It may wrap around by 2^32: of what it is modulo something, powers of two stay.
        out.mod = std::max<int64_t>(1, out.mod & -out.mod);
        out.rem = (out.rem % out.mod + out.mod) % out.mod;
    }
    return out;
}

}  // namespace firn
