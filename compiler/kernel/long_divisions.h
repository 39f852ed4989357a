// Remainders of floats that are long divisions.
#pragma once
#include "compiler/kernel/float_bounds.h"
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// The divisor is a literal of ordinary size, in [2^-60, 2^60].
bool has_near_divisor(const KernelNode& n, const KernelCode& code);
/// It has such a divisor, and bounds tell that the quotient is at most 2^11: one division and a
/// correction give the remainder of an f32.
bool has_small_quotient(const KernelNode& n, FloatRanges& ranges, const KernelCode& code);
/// A remainder of floats that takes steps: by no literal power of two, and of a quotient that may
/// be large.
bool is_long_division(const KernelNode& n, FloatRanges& ranges, const KernelCode& code);

}  // namespace firn
