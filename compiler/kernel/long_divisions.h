// Remainders of floats that are long divisions.
#pragma once
#include <cstdint>

#include "compiler/kernel/float_bounds.h"
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Loops one behind the other that a driver which bounds back edges compiles in time: lavapipe
/// takes 0.4 s for four, 2.6 s for eight and minutes for sixteen. More long divisions in a kernel
/// are written out, and take all their steps for every quotient: 2^20 of f64 take 9 ms as loops and
/// 88 so.
inline constexpr int64_t kMostLongDivisions = 4;

/// The divisor is a literal of ordinary size, in [2^-60, 2^60]: see arithmetic.glsl.
bool has_near_divisor(const KernelNode& n, const KernelCode& code);
/// It has such a divisor, and bounds tell that firn_mod_of_few_f32 takes its quotient.
bool has_small_quotient(const KernelNode& n, FloatRanges& ranges, const KernelCode& code);
/// A remainder of floats that takes steps: by no literal power of two, and of a quotient that may
/// be large.
bool is_long_division(const KernelNode& n, FloatRanges& ranges, const KernelCode& code);
/// Returns the largest number of its steps: back edges, if it is a loop.
int64_t steps_of_division(const KernelNode& n, const KernelCode& code);

}  // namespace firn
