// Loops side by side that compute much the same become one.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Fuses loops of equal length in the same region if none needs another's result and their
/// iterations compute or load much in common: three sums over one product become one loop with
/// three carried values. Loops that may end early, and loops with effects, stay as they are. Takes
/// and gives lowered kernels (not placed), before mapping.
KernelCode fuse_loops(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
