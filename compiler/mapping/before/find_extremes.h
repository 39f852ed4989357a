// The search for a least or largest element, and for where it stands, in one loop.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/mapping/mapping.h"

namespace firn {

/// Makes a loop that finds an extreme note its iteration too, and removes the loop that searches
/// for that iteration by computing the same values again (argmin and argmax are recorded so).
/// Kernels whose loops lanes share stay as they are, because no subgroup operation combines such
/// positions. Takes and gives lowered kernels (not placed), before mapping.
KernelCode find_extremes(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts,
                         ChooseMapping choose);

}  // namespace firn
