// Regions of a kernel, its loops and branches as blocks of LLVM IR.
#pragma once
#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// Writes the nodes of a region and its effects, in their order, under the mask of the run.
void write_region(IrRun& run, RegionId id);

}  // namespace firn::native
