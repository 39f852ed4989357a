// Swaps axes of the grid, so that lanes follow contiguous reads.
#pragma once
#include "compiler/kernel/kernel_code.h"
#include "compiler/mapping/mapping.h"

namespace firn {

/// Makes the axis before the last the one that lanes follow, if by the model of tiles the loops
/// take less time then. Lanes follow the last axis of the stored value. If that axis is short and
/// loops read along the one before it, as the gradient of a narrow matrix by a sum over many rows
/// does, most lanes are idle, or each reads from another place. Takes and gives lowered kernels
/// (not placed), before mapping.
KernelCode swap_grid_axes(KernelCode code, const DeviceProfile& profile, const SymbolFacts& facts,
                          ChooseMapping choose);

}  // namespace firn
