// Reciprocals of square roots from the processor's estimate.
#pragma once
#include <string>

#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// Returns 1 / sqrt(x) of every lane of a vector of f32, within 1.5 units in the last place, made
/// from an estimate. A loop of 15 operations takes 0.72 to 0.83 of the time with it (512 bits).
/// Zeros, infinities, nan and negative numbers give what the division gives; a number below the
/// smallest normal one may count as 0. Empty: the processor has no estimate or no `fma`.
std::string inverse_root(IrRun& run, const std::string& x);

}  // namespace firn::native
