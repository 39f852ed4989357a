// Dimensions that share a range of the grid have ranges of their own.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/program/device_profile.h"

namespace firn {

/// The walk joins short last dimensions, such as the taps of a filter, to one range that is as long
/// as a group's rows. Where the lanes of a subgroup share each index, rows of the grid need no
/// length, and tiles along the dimensions share more: what is read at the sum of a tap and an
/// iteration, and whether it is inside. Where such a tile is chosen, the range becomes one per
/// dimension. Takes and gives lowered kernels, before mapping. Not placed.
KernelCode separate_ranges(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts);

}  // namespace firn
