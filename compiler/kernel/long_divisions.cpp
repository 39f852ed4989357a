// Remainders of floats that are long divisions.
#include "compiler/kernel/long_divisions.h"

#include <algorithm>
#include <cmath>

namespace firn {
namespace {

/// The largest small quotient; bounds are known to a thousandth.
constexpr double kFew = 0x1p11 * 0.999;
/// The largest divisor of ordinary size, and the reciprocal of the smallest.
constexpr double kLargestDivisor = 0x1p60;

/// Returns the divisor if it is a constant, else null.
const Scalar* divisor(const KernelNode& n, const KernelCode& code) {
    return code[n.args[1]].get_if<Scalar>();
}

bool is_by_power_of_two(const KernelNode& n, const KernelCode& code) {
    const Scalar* by = divisor(n, code);
    int exponent = 0;
    return n.dtype != f64 && by && by->f > 0 && std::isfinite(by->f) &&
           std::frexp(by->f, &exponent) == 0.5;
}

}  // namespace

bool has_near_divisor(const KernelNode& n, const KernelCode& code) {
    const Scalar* by = divisor(n, code);
    return n.dtype != f64 && by && by->f >= 1 / kLargestDivisor && by->f <= kLargestDivisor;
}

bool has_small_quotient(const KernelNode& n, FloatRanges& ranges, const KernelCode& code) {
    if (n.dtype != f32 || !has_near_divisor(n, code)) return false;
    const FloatBounds x = ranges.of(n.args[0]);
    return std::max(std::abs(x.lo), std::abs(x.hi)) <= kFew * divisor(n, code)->f;
}

bool is_long_division(const KernelNode& n, FloatRanges& ranges, const KernelCode& code) {
    return n.op == KernelOp::Mod && n.dtype.is_float() && !is_by_power_of_two(n, code) &&
           !has_small_quotient(n, ranges, code);
}

}  // namespace firn
