// Loads as LLVM IR.
#pragma once
#include <string>

#include "compiler/target/native/ir_run.h"

namespace firn::native {

void write_load(IrRun& run, NodeId id);
/// The vector of a load of such an element by each lane, wherever it lies.
std::string load_of_each_lane(IrRun& run, NodeId id);

}  // namespace firn::native
