// The memory that a kernel has for itself, as LLVM IR: of a group, and of its invocations.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// The memory that a kernel has of its own: the place of each buffer in it, and its size for one
/// group. A private array has an element of each lane side by side.
struct OwnMemory {
    std::vector<uint64_t> offsets;  // by buffer; of bound ones 0
    uint64_t bytes = 0;
};
OwnMemory own_memory(const KernelCode& code, int lanes);
/// An Array begins, for all lanes.
void write_array(IrRun& run, NodeId id);

}  // namespace firn::native
