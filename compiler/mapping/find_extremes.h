// The search for a least or largest element, and for where it stands, in one loop.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// A loop that looks where the extreme of another loop's values stands computes these values again
/// (argmin and argmax, as they are recorded). The loop that finds the extreme notes the iteration
/// besides, and the other one is gone. Kernels whose loops lanes share stay as they are: what lanes
/// have of such a note has no operation that combines it. Takes and gives lowered kernels, before
/// mapping. Not placed.
KernelCode find_extremes(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
