// Loops side by side that compute much the same become one.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Joins loops of equal length that stand in the same region, where none needs another's result and
/// much of what their iterations compute or load is the same: three sums over one product are one
/// loop with three carried values. Loops that may end early, and loops with effects, stay as they
/// are. Takes and gives lowered kernels, before mapping. Not placed.
KernelCode fuse_loops(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
