// Short loops around short loops, iteration by iteration.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Writes out a loop of a few iterations that only runs a short loop, as for the taps of a small
/// window; a reduction over such axes is written out from the start. Reads of neighbours then
/// coincide across its iterations. Takes and gives lowered kernels (not placed), before mapping.
KernelCode unroll_nests(KernelCode code, const SymbolFacts& facts);

}  // namespace firn
