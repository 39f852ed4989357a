// Interchanges a nest of two loops, so that the inner one's iterations share what they read.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/mapping/mapping.h"

namespace firn {

/// Interchanges the loops of a nest if neighbours along a range of the grid read what the outer
/// loop reads in another iteration, no inner loop reads so, and the new inner loop is then written
/// out as a whole: a window over the neighbours is loaded once for all of it. Only for nests that
/// gather terms, whose order does not matter, and whose trip counts do not depend on one another.
/// Takes and gives lowered kernels (not placed), before mapping.
KernelCode interchange_loops(KernelCode code, const DeviceProfile& profile,
                             const SymbolFacts& facts, ChooseMapping choose);

}  // namespace firn
