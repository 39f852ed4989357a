// The grid's ranges in another order, so that lanes lie along what they read.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// Lanes lie along the last axis of what is stored. Where that is short and loops read along the
/// one before it, as the gradient of a narrow matrix by a sum over many rows does, most lanes have
/// nothing to do, or read each from another place; the last axis becomes the range before, if by
/// the model of tiles the loops take less time then. Takes and gives lowered kernels, before
/// mapping. Not placed.
KernelCode turn_ranges(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
