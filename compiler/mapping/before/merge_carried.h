// Merges carried values of a loop that are always equal.
#pragma once
#include "compiler/kernel/kernel_code.h"

namespace firn {

/// Merges values that a loop carries if they begin alike and every iteration changes them alike:
/// joined loops (fuse_loops) that begin with the same sum carry it once for each of them. Loops
/// with effects stay as they are. Takes and gives lowered kernels (not placed), before mapping.
KernelCode merge_carried(KernelCode code, const SymbolFacts& facts);

}  // namespace firn
