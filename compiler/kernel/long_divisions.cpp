// Remainders of floats that are long divisions.
#include "compiler/kernel/long_divisions.h"

#include <algorithm>
#include <cmath>

namespace firn {
namespace {

// These are the steps of arithmetic.glsl.
constexpr int64_t kStepsOfF32 = 14, kStepsOfNear = 10, kStepsOfF64 = 88;
/// firn_mod_of_few_f32 takes quotients up to 2^11; bounds are known to a thousandth.
constexpr double kFew = 0x1p11 * 0.999;
/// The largest divisor that firn_mod_near_f32 and it take, and the reciprocal of the smallest.
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

int64_t steps_of_division(const KernelNode& n, const KernelCode& code) {
    return n.dtype == f64 ? kStepsOfF64 : has_near_divisor(n, code) ? kStepsOfNear : kStepsOfF32;
}

}  // namespace firn
