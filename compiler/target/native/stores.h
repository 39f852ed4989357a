// Stores as LLVM IR.
#pragma once
#include <string>

#include "compiler/target/native/ir_run.h"

namespace firn::native {

void write_store(IrRun& run, NodeId id);

/// Stores a vector, `value` with its type, of so many bytes to bound memory: past the caches where
/// the call and the processor are for it.
void store_vector(IrRun& run, const std::string& value, const std::string& place, int bytes,
                  int alignment);

}  // namespace firn::native
