// Finds the values of a kernel that differ from lane to lane.
#pragma once
#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// Operations by which indices are made of ranges and sizes.
bool makes_positions(const KernelNode& n);

/// Fills `varying`, `diverges`, `positions` and `wanted` of the run. A value that is not varying is
/// equal in all lanes that run.
void find_forms(IrRun& run);

}  // namespace firn::native
