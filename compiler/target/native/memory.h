// Loads, stores, atomics and the kernel's own memory as LLVM IR.
#pragma once
#include <cstdint>

#include "compiler/target/native/ir_run.h"

namespace firn::native {

/// Where the memory of its own that a kernel has begins, by buffer, and its size: for one group. A
/// private array has an element of each lane side by side.
struct OwnMemory {
    std::vector<uint64_t> offsets;  // by buffer; of bound ones 0
    uint64_t bytes = 0;
};
OwnMemory own_memory(const KernelCode& code, int lanes);
/// Bytes of one element in memory.
int element_bytes(const KernelBuffer& buffer);

void write_load(IrRun& run, NodeId id);
void write_store(IrRun& run, NodeId id);
void write_atomic(IrRun& run, NodeId id);
/// An Array begins, for all lanes.
void write_array(IrRun& run, NodeId id);

}  // namespace firn::native
