// Elementwise operations as LLVM IR.
#pragma once
#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// Writes an elementwise or combined operation; values that are not all equal in all lanes give a
/// vector, or a linear integer where the operation keeps it one.
IrValue write_operation(IrRun& run, NodeId id);

}  // namespace firn::native
