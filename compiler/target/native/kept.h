// Values of a loop that a later loop computes again, kept in memory between the two.
#pragma once
#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// Fills `keeps` and `takes` of the run: costly values of all lanes that two loops of as many
/// iterations, one behind the other, compute alike. Uses find_forms().
void find_kept(IrRun& run);

/// Keeps the value of this iteration, where a later loop takes it.
void keep_value(IrRun& run, NodeId id);
/// The value that an earlier loop kept; returns whether there is one.
bool take_value(IrRun& run, NodeId id);

}  // namespace firn::native
