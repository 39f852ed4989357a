// Dimensions that share a range of the grid have ranges of their own.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/mapping/mapping.h"

namespace firn {

/// Gives each dimension of a joined range a range of its own if a tile along the dimensions shares
/// more. The walk joins short last dimensions, such as the taps of a filter, to one range that is
/// as long as a group's rows. If the lanes of a subgroup share each index, rows of the grid need no
/// length, and tiles along single dimensions share reads at the sum of a tap and an iteration, and
/// their bounds checks. Takes and gives lowered kernels (not placed), before mapping.
KernelCode separate_ranges(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts,
                           ChooseMapping choose);

}  // namespace firn
