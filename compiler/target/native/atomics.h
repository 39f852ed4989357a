// Combining stores to one element of memory as LLVM IR.
#pragma once
#include "compiler/target/native/ir_run.h"

namespace firn::native {

void write_atomic(IrRun& run, NodeId id);

}  // namespace firn::native
