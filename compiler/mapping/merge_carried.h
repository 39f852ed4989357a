// Merges carried values of a loop that are always equal.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Values that a loop carries, that begin alike and that every iteration changes alike are one
/// value: joined loops (fuse_loops) that begin with the same sum carry it once for each of them.
/// Loops with effects stay as they are. Takes and gives lowered kernels, before mapping. Not
/// placed.
KernelCode merge_carried(KernelCode code, const SymbolFacts& facts);

}  // namespace firn
