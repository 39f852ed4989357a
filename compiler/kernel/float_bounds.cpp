// Bounds of floating-point values.
#include "compiler/kernel/float_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace firn {
namespace {

constexpr int kMostFollowed = 64;  // operations inside one another
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr FloatBounds kAnything{-kInfinite, kInfinite, false};

bool is_finite(const FloatBounds& a) { return std::isfinite(a.lo) && std::isfinite(a.hi); }

/// Returns the bounds of a result that is nan if an operand is nan or an end is infinite.
FloatBounds made(double lo, double hi, const FloatBounds& a, const FloatBounds& b) {
    if (std::isnan(lo) || std::isnan(hi)) return kAnything;
    return {lo, hi, a.number && b.number && is_finite(a) && is_finite(b)};
}

FloatBounds product(const FloatBounds& a, const FloatBounds& b) {
    const auto [lo, hi] = std::minmax({a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi});
    return is_finite(a) && is_finite(b) ? made(lo, hi, a, b) : kAnything;
}

/// The lesser of two is one of them, the other where one is no number.
FloatBounds lesser(const FloatBounds& a, const FloatBounds& b) {
    const double hi = a.number && b.number ? std::min(a.hi, b.hi)
                      : a.number           ? a.hi
                      : b.number           ? b.hi
                                           : std::max(a.hi, b.hi);
    return {std::min(a.lo, b.lo), hi, a.number && b.number};
}

FloatBounds negated(const FloatBounds& a) { return {-a.hi, -a.lo, a.number}; }

FloatBounds absolute(const FloatBounds& a) {
    const double most = std::max(std::abs(a.lo), std::abs(a.hi));
    const bool crosses = a.lo < 0 && a.hi > 0;
    return {crosses ? 0 : std::min(std::abs(a.lo), std::abs(a.hi)), most, a.number};
}

FloatBounds rounded(const FloatBounds& a) { return {a.lo - 1, a.hi + 1, a.number}; }

FloatBounds around_zero(double most, const FloatBounds& of) {
    return {-most, most, of.number && is_finite(of)};
}

}  // namespace

FloatBounds FloatRanges::of(NodeId id, int depth) {
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    if (depth >= kMostFollowed) return kAnything;
    return known_[id] = find(code_[id], depth + 1);
}

FloatBounds FloatRanges::find(const KernelNode& n, int depth) {
    if (n.dtype.is_bool()) return {0, 1, true};
    if (n.dtype == i32 || n.dtype == u32) return find_integer(n, depth);
    return n.dtype == f32 ? find_float(n, depth) : kAnything;
}

FloatBounds FloatRanges::find_integer(const KernelNode& n, int depth) {
    if (n.dtype == i32)
        return {static_cast<double>(n.interval.lo), static_cast<double>(n.interval.hi), true};
    const FloatBounds any{0, 4294967295.0, true};
    const auto constant = [&](size_t k) { return code_[n.args[k]].get_if<Scalar>(); };
    switch (n.op) {
        case KernelOp::Constant: {
            const auto value = static_cast<double>(n.as<Scalar>().i);
            return {value, value, true};
        }
        case KernelOp::ShiftRight:
            if (const Scalar* by = constant(1); by && by->i >= 0 && by->i < 32)
                return {0, std::floor(std::ldexp(of(n.args[0], depth).hi, -int(by->i))), true};
            return any;
        case KernelOp::And:
            for (size_t k = 0; k < 2; ++k)
                if (const Scalar* mask = constant(k); mask && mask->i >= 0)
                    return {0, static_cast<double>(mask->i), true};
            return any;
        default: return any;
    }
}

FloatBounds FloatRanges::find_float(const KernelNode& n, int depth) {
    const auto arg = [&](size_t k) { return of(n.args[k], depth); };
    switch (for_any_angle(n.op)) {
        case KernelOp::Constant: {
            const double value = n.as<Scalar>().f;
            return std::isfinite(value) ? FloatBounds{value, value, true} : kAnything;
        }
        case KernelOp::Cast: return arg(0);
        case KernelOp::Neg: return negated(arg(0));
        case KernelOp::Abs: return absolute(arg(0));
        case KernelOp::Floor:
        case KernelOp::Ceil:
        case KernelOp::Round:
        case KernelOp::Trunc: return rounded(arg(0));
        case KernelOp::Frac: return {0, 1, arg(0).number && is_finite(arg(0))};
        case KernelOp::Sqrt: {
            const FloatBounds x = arg(0);
            return {0, std::sqrt(std::max(x.hi, 0.0)), x.number && x.lo >= 0};
        }
        case KernelOp::Sign:
        case KernelOp::Sin:
        case KernelOp::Cos:
        case KernelOp::Tanh:
        case KernelOp::Erf: return around_zero(1, arg(0));
        case KernelOp::Asin:
        case KernelOp::Acos:
        case KernelOp::Atan:
        case KernelOp::Atan2: return {-std::numbers::pi, std::numbers::pi, false};
        case KernelOp::Add: {
            const FloatBounds a = arg(0), b = arg(1);
            return made(a.lo + b.lo, a.hi + b.hi, a, b);
        }
        case KernelOp::Sub: {
            const FloatBounds a = arg(0), b = arg(1);
            return made(a.lo - b.hi, a.hi - b.lo, a, b);
        }
        case KernelOp::Mul: return product(arg(0), arg(1));
        case KernelOp::Div: {
            const FloatBounds by = arg(1);
            if (!is_finite(by) || (by.lo <= 0 && by.hi >= 0)) return kAnything;
            return product(arg(0), {1 / by.hi, 1 / by.lo, by.number});
        }
        case KernelOp::Min: return lesser(arg(0), arg(1));
        case KernelOp::Max: return negated(lesser(negated(arg(0)), negated(arg(1))));
        case KernelOp::Select: {
            const FloatBounds a = arg(1), b = arg(2);
            return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), a.number && b.number};
        }
        default: return kAnything;
    }
}

}  // namespace firn
