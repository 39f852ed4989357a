// Finds how the indices of a lowered kernel's loads move with its ranges.
#pragma once
#include <cstdint>

#include "compiler/kernel/kernel_code.h"

namespace firn {

/// The last range of the grid, along which lanes lie, or none.
RangeId last_grid_range(const KernelCode& code);
/// Some load in a loop of at least `lanes` iterations walks along it, is the same for neighbours
/// along x, and begins at a known place in a round of so many elements; the kernel's effects are
/// stores.
bool reads_in_sequence(KernelCode code, int64_t lanes);
/// Loads in loops walk in strides, and none along a loop.
bool strides_far(KernelCode code);
/// Loops only read columns: neighbours along x, rows far apart.
bool walks_columns(KernelCode code);

}  // namespace firn
