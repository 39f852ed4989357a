// Short loops around short loops, iteration by iteration.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// A loop of a few iterations that does nothing but run a short one, as for the taps of a small
/// window, is written out, as a reduction over such axes is from the start: what neighbours read
/// meets across its iterations then. Takes and gives lowered kernels, before mapping. Not placed.
KernelCode write_out_nests(KernelCode code, const SymbolFacts& facts);

}  // namespace firn
