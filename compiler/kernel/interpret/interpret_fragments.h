// Nodes whose values are matrices that subgroups hold together, for the host interpreter.
#pragma once
#include "compiler/kernel/interpret/interpret_matrix.h"
#include "compiler/kernel/interpret/interpret_run.h"

namespace firn {

/// The matrices that node `id` is, one of each subgroup.
LaneMatrix matrix_of(const InterpretRun& run, NodeId id);

/// A MatrixFill, MatrixMulAdd or MatrixCast.
void run_matrix(InterpretRun& run, NodeId id, const LaneMask& mask);
/// A MatrixLoad or MatrixStore: between memory and the lanes, one part after the other.
void move_matrix(InterpretRun& run, NodeId id, const LaneMask& mask);

}  // namespace firn
